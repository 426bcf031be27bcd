"""What can be typed: the commands, their options and their worked examples. Nothing heavy is imported here.

The functions are declarations: their names, options and docstrings are the command line; `runs` names the code.
"""

from collections.abc import Callable
from typing import Any

import click

from halfspace import __version__
from halfspace._paths import fault_of, sheet_of
from halfspace.cli.frame import CommandLine
from halfspace.cli.schemas import names

__all__ = ["main"]

FORMATS = ("csv", "tsv", "excel", "parquet", "arrow", "jsonl", "svmlight", "npz")
KERNELS = ("rbf", "linear", "poly", "laplacian", "cosine", "sigmoid")
SCALES = ("standard", "log", "rank", "normal", "none")

Decorator = Callable[[Any], Any]
JSON_HELP = "Print one JSON object (see `halfspace schema`) and nothing else on standard output."
as_object: Decorator = click.option("--json", is_flag=True, expose_value=False, help=JSON_HELP)
as_object_itself: Decorator = click.option("--json", "wants_json", is_flag=True, help=JSON_HELP)
with_target: Decorator = click.option("--target", metavar="COL", help="Column to predict: its name, or its number from 0.")
with_format: Decorator = click.option(
    "--format", "format_", type=click.Choice(FORMATS), help="Format of FILE; by default recognised from its name and content."
)
with_seed: Decorator = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
with_scale: Decorator = click.option(
    "--scale",
    type=click.Choice(SCALES),
    default="standard",
    show_default=True,
    help="Scale numbers to unit variance, also after the logarithm of skewed ones, to ranks, to a normal shape, or not at all.",
)
with_max_rows: Decorator = click.option(
    "--max-rows",
    type=click.IntRange(min=2),
    default=1_000_000,
    show_default=True,
    metavar="N",
    help="From a larger file draw a random sample of N rows, so that memory stays bounded.",
)
with_max_time: Decorator = click.option(
    "--max-time",
    type=click.FloatRange(min=0.0, min_open=True),
    metavar="S",
    help="Time limit in seconds; the best found by then is kept.",
)
with_max_memory: Decorator = click.option(
    "--max-memory",
    metavar="SIZE",
    help="Memory limit, such as 2GB; by default the smaller of a quarter of RAM and max(2 GB, 20 x FILE).",
)
to_file = click.Path(dir_okay=False)


class InputFile(click.Path):
    """A file to be read: one that cannot be is refused here, before anything heavy is imported."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path as it was given."""
        path = super().convert(value, param, ctx)
        fault = "" if self.allow_dash and path == "-" else fault_of(sheet_of(str(path))[0])
        if fault:
            raise click.ClickException(fault)
        return path


class Start(click.ParamType[Any]):
    """What `--pca` takes: a share of the variance, or a number of components."""

    name = "share or number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a float below 1 or a whole number."""
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if number >= 1.0 and str(value).isdecimal():
            return int(value)
        if not 0.0 < number < 1.0:
            self.fail(f"{value!r} is neither a share of the variance, such as 0.95, nor a number of components", param, ctx)
        return number


level = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)
from_model, from_file = InputFile(), InputFile(allow_dash=True)


@click.group(
    cls=CommandLine,
    example="halfspace fit table.csv --target churn --report report.html --save model.halfspace",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="halfspace")
def main() -> None:
    """From a file to the simplest model that is good enough, with its proof.

    FILE may be CSV, TSV, Excel (.xlsx; book.xlsx#Sheet names a sheet), Parquet, Arrow, JSON lines, svmlight (text also as .gz)
    or .npz; `-` is standard input, and a pipe will do.

    Exit codes: 0 done, 1 a claim was refuted, 2 bad usage or input, 130 interrupted (what was found by then is
    printed and kept).
    """


@main.command(
    runs="fit",
    short_help="Find the simplest model that is good enough, from baselines to kernels.",
    example="halfspace fit table.csv --target churn --report report.html --save model.halfspace",
)
@click.argument("file", required=False, type=from_file)
@with_target
@click.option(
    "--task",
    type=click.Choice(["auto", "classify", "regress"]),
    default="auto",
    show_default=True,
    help="Predict classes or a number; auto decides by the target's values and says so.",
)
@click.option("--save", type=to_file, metavar="MODEL", help="Write the model, with its preprocessing and its proof.")
@click.option("--report", type=to_file, metavar="HTML", help="Write a report: one HTML page that opens offline.")
@with_max_time
@with_max_memory
@click.option("--kernel", type=click.Choice(KERNELS), default="rbf", show_default=True, help="Kernel of the kernel rung.")
@click.option(
    "--rungs",
    metavar="A,B,..",
    help="Rungs to climb, of: majority,neighbours,perceptron,adaline,adatron,glvq,gmlvq,kernel,relevance; for numbers of:"
    " mean,neighbours,least_squares,ridge,bayesian,kernel,relevance.",
)
@click.option(
    "--score",
    default="auto",
    show_default=True,
    type=click.Choice(
        ["auto", "accuracy", "balanced_accuracy", "roc_auc", "average_precision", "f1", "log_loss", "rmse", "mae", "r2"]
    ),
    help="What the rungs are compared by; auto: accuracy, balanced accuracy where one class has over 80 %, RMSE for numbers.",
)
@click.option("--positive", metavar="CLASS", help="The class that ROC, precision and F1 are about; the second by default.")
@click.option("--cost", metavar="FN=5,FP=1", help="What mistakes cost, or by class spam=5,ham=1: labels cost least.")
@click.option("--threshold", metavar="DEMAND", help='What labels must reach on rows left out, such as "recall>=0.95".')
@click.option("--drop", metavar="A,B,..", help="Columns to leave out.")
@click.option("--id", "id_", metavar="COL", help="Column that names the rows: no input, repeated in predictions.")
@click.option(
    "--keep-text",
    type=click.Choice(["auto", "yes", "no"]),
    default="auto",
    show_default=True,
    help="Words of free text as inputs; yes: also of names and remarks, no: leave text out that hardly repeats.",
)
@click.option("--group", metavar="COL", help="Keep rows with the same value here on one side of every split: individuals.")
@click.option("--time", metavar="COL", help="Validate forwards: learn from the past, test on what came next.")
@click.option("--refit/--no-refit", default=True, show_default=True, help="After the test, let the winner learn from all rows.")
@click.option(
    "--yardstick/--no-yardstick",
    default=True,
    show_default=True,
    help="Measure boosted trees in the same folds; they never win.",
)
@click.option(
    "--novelty/--no-novelty", default=True, show_default=True, help="Learn what training rows look like, for `predict`."
)
@with_scale
@click.option(
    "--pca",
    type=Start(),
    metavar="SHARE|K",
    help="Let rungs see principal components: as many as hold this share of the variance, such as 0.95, or K of them.",
)
@with_max_rows
@click.option(
    "--test-size",
    type=click.FloatRange(0.0, 1.0, max_open=True),
    default=0.2,
    show_default=True,
    help="Share of the rows held out for a single test at the end; 0 for none.",
)
@with_format
@with_seed
@as_object
def fit(**options: Any) -> None:
    """Find the simplest model of FILE that is good enough, with its proof.

    The ladder of classes: majority class, nearest neighbours, averaged perceptron, Adaline, AdaTron, GLVQ, GMLVQ, kernel
    AdaTron, relevance kernel machine. That of numbers: mean, nearest neighbours, least squares, ridge, Bayesian regression,
    kernel ridge, relevance kernel machine. The simplest rung within one standard error of the best wins, if there is evidence
    that it is better than the majority class or the mean. Then it learns from all rows.

    The report and the model are written only if asked for. Without FILE the built-in breast-cancer data are used, and
    halfspace-report.html and model.halfspace are written here unless other names are given. Ctrl-C keeps the best so far: it is
    printed and written, and the exit code is 130.
    """


@main.command(
    runs="predict",
    short_help="Predict the rows of a file with a saved model.",
    example="halfspace predict model.halfspace new.csv --proba --out predictions.csv",
)
@click.argument("model", type=from_model)
@click.argument("file", type=from_file)
@click.option("--proba", is_flag=True, help="Add a column of probabilities per class.")
@click.option(
    "--interval", type=level, metavar="LEVEL", help="Add low and high, which hold the number at this level, such as 0.9."
)
@click.option(
    "--set", "set_", type=level, metavar="LEVEL", help="Add the set of classes that holds the true one at this level."
)
@click.option("--novelty", is_flag=True, help="Add the p-value of each row: how typical it is of the rows of the fit.")
@click.option("--out", type=to_file, metavar="OUT", help="Write .csv, .parquet or .jsonl; by default CSV on standard output.")
@click.option(
    "--guard/--no-guard",
    default=True,
    show_default=True,
    help="In CSV, write an apostrophe before labels that a spreadsheet would run as a formula, such as =1+1.",
)
@with_max_memory
@with_format
@as_object_itself
def predict(**options: Any) -> None:
    """Predict every row of FILE with MODEL, in batches: memory does not grow with the file.

    Columns are matched by name. Columns that the model does not know (the target too) are ignored; absent columns and numbers
    that cannot be read count as missing values; categories not seen in training count as `other`. Notes on standard error say
    how often. The output has the columns row (from 0), the id if the fit named one, prediction and what was asked for: one
    probability per class, the ends of an interval, or a set of classes separated by `|`.

    A note says when more rows than promised (1 % of rows like those of the fit) look unlike the rows of the fit.

    The guarantee of --interval and --set is for rows like those of the fit, and on average over them: at least
    1 - 2 (1 - LEVEL), less a few points if the rows were few, by a theorem; about LEVEL in practice. The report has the number.
    """


@main.command(
    runs="separable",
    short_help="Decide whether planes separate the classes, and prove it.",
    example="halfspace separable table.csv --target churn --out proof.json",
)
@click.argument("file", type=from_file)
@with_target
@with_max_time
@with_max_memory
@click.option("--out", type=to_file, metavar="JSON", help="Write the proof, for `halfspace certify JSON FILE`.")
@click.option(
    "--permutations",
    type=click.IntRange(min=0),
    default=19,
    show_default=True,
    metavar="N",
    help="Random orders of the labels to try if the classes are separable; 0: do not say what that is worth.",
)
@with_scale
@with_max_rows
@with_format
@with_seed
@as_object
def separable(**options: Any) -> None:
    """Decide whether some plane separates the classes of FILE, in exact arithmetic.

    With more than two classes, each from the rest. When the time limit is reached (by default a minute, and more for a large
    FILE) the answer may be `undecided`; it is never a guess.

    If they are separable, it also says what that is worth: how many labelings of these rows planes separate at all, and whether
    the same labels in random order are separable too.
    """


@main.command(
    runs="query",
    short_help="Say which rows to label next.",
    example="halfspace query model.halfspace pool.csv -k 20 --out to_label.csv",
)
@click.argument("model", type=from_model)
@click.argument("file", type=from_file)
@click.option("-k", type=click.IntRange(min=1), default=20, show_default=True, help="Rows to choose.")
@click.option(
    "--strategy",
    type=click.Choice(["margin", "random"]),
    default="margin",
    show_default=True,
    help="The rows that the model is least sure of, spread out; or random ones.",
)
@click.option(
    "--audit", "n_audit", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Add N random rows."
)
@click.option(
    "--audited", type=from_model, metavar="FILE", help="Rows of an earlier audit with their labels: how wrong is MODEL?"
)
@click.option("--labelled", type=from_model, metavar="FILE", help="The labelled rows: mark labels that follow from them.")
@click.option("--target", metavar="COL", help="Column of the labels in these files, if it is not that of the fit.")
@click.option("--out", type=to_file, metavar="OUT", help="Write the rows as .csv, .parquet or .jsonl.")
@with_max_memory
@with_format
@with_seed
@as_object
def query(**options: Any) -> None:
    """Choose the rows of FILE whose labels would teach MODEL most, with the reason for each.

    Rows that a batch would ask for twice are spread out. A forced label follows from the labelled rows if some plane separates
    all rows, which is proved in exact arithmetic. What choosing saves cannot be promised; how wrong the model is can be
    measured: label random rows (--audit) and give them back (--audited) for an exact interval.
    """


@main.command(
    runs="curve",
    short_help="Say whether more rows would help.",
    example="halfspace curve table.csv --target churn --at 2x,10x --plot curve.png",
)
@click.argument("file", type=from_file)
@with_target
@click.option(
    "--at", default="10x", show_default=True, metavar="N,..", help="Numbers of rows, or multiples of those there are."
)
@click.option("--plot", type=to_file, metavar="PNG", help="Draw the curve: .png, .svg or .pdf.")
@click.option("--repeats", type=click.IntRange(min=3), default=25, show_default=True, help="Random orders of the rows.")
@click.option("-C", "C", type=click.FloatRange(1e-6, 1e6), default=0.1, show_default=True, help="Cap of the linear model.")
@with_max_time
@with_max_memory
@with_scale
@with_max_rows
@with_format
@with_seed
@as_object
def curve(**options: Any) -> None:
    """Measure how the error of a linear large-margin model falls with the rows of FILE, and carry it on to more rows.

    At most 2,000 rows are used. The interval is statistics, not a proof: it is for rows like those of FILE.
    """


@main.command(
    runs="certify",
    short_help="Check a model's proof against the data, trusting no solver.",
    example="halfspace certify model.halfspace table.csv",
)
@click.argument("model", type=from_model)
@click.argument("file", required=False, type=from_file)
@click.option("--target", metavar="COL", help="Column of the labels, if it has another name in FILE.")
@with_format
@as_object
def certify(**options: Any) -> None:
    """Recompute every claim of MODEL's certificate from the training rows in FILE.

    No solver and no model is imported. MODEL may also be a proof written by `halfspace separable --out`. Exit code 0: it
    holds; 1: refuted, with the reasons.

    FILE may be left out if the model was fitted to the built-in data.
    """


@main.command(
    runs="warm",
    short_help="Compile ahead, once for this machine.",
    example="halfspace warm\nNUMBA_CACHE_DIR=/var/cache/halfspace halfspace warm",
)
@as_object
def warm(**options: Any) -> None:
    """Compile what the commands use, in two processes, so that the first `fit` starts at once.

    Compiled code is kept beside the package, or in the folder that NUMBA_CACHE_DIR names: set it where the package cannot be
    written, such as in a container, and set it for later commands too.
    """


@main.command(
    runs="inspect",
    short_help="Show what a model file holds.",
    example="halfspace inspect model.halfspace",
)
@click.argument("model", type=from_model)
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Weights and examples to list.")
@as_object
def inspect(**options: Any) -> None:
    """Show what MODEL is and what it was trained on: counts, columns, time, seed, versions; no data.

    Then its ladder, its weights by name, the hardest training examples by row number, and its certificate.
    """


@main.group(
    cls=CommandLine, short_help="Built-in and generated problems.", example="halfspace data make customers --out customers.csv"
)
def data() -> None:
    """List, show and write the built-in and generated problems."""


@data.command("list", runs="problems.list_all", short_help="Name the problems.", example="halfspace data list")
@as_object
def list_(**options: Any) -> None:
    """Name the problems, with their numbers of rows, columns and classes."""


@data.command(runs="problems.show", short_help="Describe one problem.", example="halfspace data show breast_cancer")
@click.argument("name")
@as_object
def show(**options: Any) -> None:
    """Describe the problem NAME and show its first rows."""


@data.command(
    runs="problems.make",
    short_help="Write one problem as CSV.",
    example="halfspace data make xor --n 200 --out xor.csv",
)
@click.argument("kind")
@click.option("--out", type=to_file, metavar="CSV", help="File to write; by default standard output.")
@click.option("--n", type=click.IntRange(min=2), help="Rows of a generated problem.")
@with_seed
@as_object_itself
def make(**options: Any) -> None:
    """Write the problem KIND as CSV."""


@main.command(
    runs="schemas",
    short_help="Print the schema of a command's --json.",
    example="halfspace schema fit",
)
@click.argument("name", type=click.Choice(names()))
@as_object
def schema(**options: Any) -> None:
    """Print the JSON schema (draft 2020-12) of what the command NAME prints with --json; `error` is that of a failure."""


@main.command(
    runs="frame.completion",
    short_help="Print the completion script of a shell.",
    example='eval "$(halfspace completion bash)"',
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@as_object
def completion(**options: Any) -> None:
    """Print the script that makes SHELL complete the commands and options of halfspace; add the example to ~/.bashrc."""


with_state: Decorator = click.option(
    "--state",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Directory of the filter; by default $HALFSPACE_MAIL, or one in the user's data directory.",
)
with_connect: Decorator = click.option(
    "--connect", metavar="ADDR", help="Ask the service at this path or loopback address, such as 127.0.0.1:7830."
)
with_listen: Decorator = click.option(
    "--listen", metavar="ADDR", help="Path of a Unix socket, or a loopback address such as 127.0.0.1:7830."
)
with_ham_loss: Decorator = click.option(
    "--ham-loss",
    type=click.Choice(["0.01", "0.005", "0.001"]),
    help="Call spam only what keeps the promise that, with 95 % confidence, at most this share of ham is lost.",
)


@main.group(
    cls=CommandLine,
    short_help="A mail filter that learns from each correction.",
    example="halfspace mail train ~/mail/junk --label spam",
)
def mail() -> None:
    """Sort mail into ham, unsure and spam, and learn from each correction; docs/mail.md has the recipes for mail servers."""


@mail.command(
    runs="mail.train",
    short_help="Learn a folder, a maildir or an mbox file.",
    example="halfspace mail train ~/mail/junk --label spam",
)
@click.argument("source", type=click.Path(exists=True))
@click.option("--label", type=click.Choice(["spam", "ham"]), required=True, help="What all messages of SOURCE are.")
@click.option("--keep", is_flag=True, help="Keep the messages themselves from now on, so that a new version can reread them.")
@click.option("--light", is_flag=True, help="At most 250 features a message; when the state is made.")
@with_state
@as_object
def train(**options: Any) -> None:
    """Learn every message of SOURCE: a folder, a maildir, an mbox file, or a file with one message.

    Messages that are known already are skipped; those known with the other label are learnt anew.
    """


@mail.command(
    "score",
    runs="mail.score",
    short_help="Tell whether the message on standard input is spam.",
    example="halfspace mail score < message",
)
@click.option("--header", is_flag=True, help="Print the message with the answer in its header; always exit with 0.")
@with_ham_loss
@with_connect
@with_state
@as_object_itself
def score_(**options: Any) -> None:
    """Tell whether the message on standard input is ham, unsure or spam: exit code 0, 11 or 10; 75 if there is no answer.

    With --header the message is printed with the field X-Halfspace, and fields of that name that the sender put in are removed;
    whatever happens, the message goes through, after five seconds without an answer.
    """


@mail.command(
    runs="mail.learn",
    short_help="Learn the message on standard input, or take it back.",
    example="halfspace mail learn --spam < message",
)
@click.option("--spam", is_flag=True, help="It is spam.")
@click.option("--ham", is_flag=True, help="It is not.")
@click.option("--undo", is_flag=True, help="Take it back: the filter is then the one that never saw it.")
@click.option("--keep", is_flag=True, help="Keep the messages themselves from now on.")
@with_connect
@with_state
@as_object_itself
def learn(**options: Any) -> None:
    """Learn the message on standard input; when this returns it is on the disk. Exit code 75 if that failed."""


@mail.command(
    runs="mail.explain",
    short_help="Say why the message on standard input is ham or spam.",
    example="halfspace mail explain < message",
)
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Features to list each way.")
@with_state
@as_object
def explain(**options: Any) -> None:
    """List the features that push the message on standard input most towards spam and towards ham, in words."""


@mail.command(
    runs="mail.status", short_help="Show what the filter has seen and promises.", example="halfspace mail status --state DIR"
)
@with_state
@as_object
def status(**options: Any) -> None:
    """Show what the filter has learnt, how it did on the last 200 messages before it learnt them, and what it can promise."""


@mail.command(
    runs="mail.evaluate",
    short_help="Run a labelled stream through a filter, by TREC's protocol.",
    example="halfspace mail evaluate full/index --scores scores.csv",
)
@click.argument("index", type=from_model)
@click.option("--scores", type=to_file, metavar="CSV", help="Write path, label and score before learning of each message.")
@click.option("--plot", type=to_file, metavar="PNG", help="Draw the ROC curve.")
@click.option(
    "--state", type=click.Path(exists=True, file_okay=False), metavar="DIR", help="Start from this filter, not empty."
)
@click.option(
    "--rule",
    type=click.Choice(["perceptron", "passive-aggressive", "adatron"]),
    help="How it learns, the simplest first; adatron is what the filter does.",
)
@click.option("--light", is_flag=True, help="At most 250 features a message.")
@with_seed
@as_object
def evaluate(**options: Any) -> None:
    """Score each message of INDEX in order, then learn its label; report 1-ROCA, lam and the spam missed at a given ham loss.

    INDEX has one `spam path` or `ham path` per line, or is CSV with the columns path and label; paths are relative to it.
    Intervals hold 95 % of bootstrap samples. The filter that --state names is not changed.
    """


@mail.command(
    "certify",
    runs="mail.certify",
    short_help="Replay the journal and check what the filter claims.",
    example="halfspace mail certify",
)
@with_state
@as_object
def certify_mail(**options: Any) -> None:
    """Learn the journal again from the beginning: weights and scores must come out the same, bit for bit.

    Then the certificates: mistakes against the most that theory allows, and the bound on lost ham. Exit code 1 if one fails.
    """


@mail.command(
    runs="mail.serve",
    short_help="Answer on a Unix socket or on loopback.",
    example="halfspace mail serve --listen 127.0.0.1:7830",
)
@with_listen
@with_ham_loss
@with_state
@as_object
def serve(**options: Any) -> None:
    """Keep the filter in memory and answer `mail score` and `mail learn`, by default on DIR/socket, until SIGTERM or Ctrl-C.

    On loopback every user of this machine may ask and teach; a socket in the directory is for its owner alone.
    """


@mail.command(
    runs="mail.milter",
    short_help="Filter for postfix or sendmail, as a milter.",
    example="halfspace mail milter --listen 127.0.0.1:8891",
)
@with_listen
@with_ham_loss
@with_state
@as_object
def milter(**options: Any) -> None:
    """Answer a mail server by the milter protocol: the field X-Halfspace is added, forged ones are removed."""
