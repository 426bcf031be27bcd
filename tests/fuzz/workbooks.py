"""Excel workbooks without Excel: an .xlsx file is a zip archive of XML."""

import datetime as dt
import zipfile
from xml.sax.saxutils import escape

__all__ = ["workbook"]

OFFICE = "http://schemas.openxmlformats.org/"
SPREADSHEET = f"{OFFICE}spreadsheetml/2006/main"
RELATED = f"{OFFICE}officeDocument/2006/relationships"
TYPES = f"""<Types xmlns="{OFFICE}package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/>
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>"""
STYLES = f"""<styleSheet xmlns="{SPREADSHEET}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/>
</cellXfs></styleSheet>"""


def cell(place, value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, dt.date):
        return f'<c r="{place}" s="1"><v>{(value - dt.date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    kind, tags = ("e", ("<v>", "</v>")) if value.startswith("#") else ("inlineStr", ("<is><t>", "</t></is>"))
    return f'<c r="{place}" t="{kind}">{escape(value).join(tags)}</c>'


def workbook(path, **sheets):
    """Write rows of plain values as an .xlsx file, which is a zip archive of XML."""
    related = "".join(
        f'<Relationship Id="r{k}" Type="{RELATED}/worksheet" Target="worksheets/s{k}.xml"/>' for k in range(len(sheets))
    )
    styles = f'<Relationship Id="styles" Type="{RELATED}/styles" Target="styles.xml"/>'
    root = f'<Relationship Id="r" Type="{RELATED}/officeDocument" Target="xl/workbook.xml"/>'
    named = "".join(f'<sheet name="{name}" sheetId="{k + 1}" r:id="r{k}"/>' for k, name in enumerate(sheets))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("xl/styles.xml", STYLES)
        book = f'<workbook xmlns="{SPREADSHEET}" xmlns:r="{RELATED}"><sheets>{named}</sheets></workbook>'
        archive.writestr("xl/workbook.xml", book)
        for name, links in (("_rels/.rels", root), ("xl/_rels/workbook.xml.rels", related + styles)):
            archive.writestr(name, f'<Relationships xmlns="{OFFICE}package/2006/relationships">{links}</Relationships>')
        for k, rows in enumerate(sheets.values()):
            lines = ("".join(cell(f"{chr(65 + j)}{i}", value) for j, value in enumerate(row)) for i, row in enumerate(rows, 1))
            body = "".join(f'<row r="{i}">{line}</row>' for i, line in enumerate(lines, 1))
            archive.writestr(
                f"xl/worksheets/s{k}.xml", f'<worksheet xmlns="{SPREADSHEET}"><sheetData>{body}</sheetData></worksheet>'
            )
    return path
