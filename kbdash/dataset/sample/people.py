"""The users of the sample: names that cannot be mistaken for real people, ids of every kind in the real files."""

from dataclasses import dataclass

_ANIMALS = (
    "Otter",
    "Heron",
    "Lynx",
    "Badger",
    "Wren",
    "Marten",
    "Newt",
    "Stoat",
    "Gecko",
    "Plover",
    "Tapir",
    "Vole",
    "Ibis",
    "Moth",
    "Quail",
    "Shrew",
    "Dunlin",
    "Civet",
    "Finch",
    "Hare",
    "Kudu",
    "Loris",
    "Mink",
    "Numbat",
    "Okapi",
    "Puffin",
    "Robin",
    "Skink",
    "Tern",
    "Urial",
    "Viper",
    "Weevil",
    "Yak",
    "Zebu",
)

# Every way a name can break a table, a chart label, a link, a CSV file or a page.
TRAP_NAMES = (
    "<img src=x onerror=alert(1)>",
    "[a](http://b)",
    "$x$",
    "_sample_",
    "Sample Wolf 🐺",
    "样本水獭",
    "عينة اختبار",
    "sample \u202eresu desrever",
    "",
    "Sample Twin",
    "Sample Twin",
    "sample user with a name that does not end " + "and goes on " * 22 + "until here",
    "sample \"quoted\" 'single' \\ back; drop table submissions;--",
    "# sample heading",
    "`sample` **bold** | pipe",
    ":red[sample] :material/home:",
    "=1+2 sample formula",
    "sample &lt;b&gt;entity</script>",
    "sample\u200bzero\u200bwidth",
    " ",
    "sample\nsecond line",
    "%s {sample} {0}",
)

# Ids of three lengths, none of which the platforms behind the real ids would hand out: a snowflake of the
# year 2083, a nine-digit account number not yet reached, and 21 digits that begin with a 9.
_SNOWFLAKE, _ACCOUNT, _GOOGLE = 9_000_000_000_000_000_000, 990_000_000, 999_000_000_000_000_000_000


@dataclass(frozen=True, slots=True)
class User:
    """A contestant: the id is the identity, the name may be shared, empty or hostile."""

    index: int
    id: str
    name: str | None

    @property
    def tag(self) -> str:
        """A short word in the user's kernels, so that no two users write the same text by chance."""
        return f"v{self.index:03d}"


def _ordinary_name(index: int) -> str:
    animal = _ANIMALS[index % len(_ANIMALS)]
    forms = (
        f"Sample {animal}",
        f"sample-user-{index}",
        f"sample_{animal.lower()}_{index}",
        f"sample.{animal.lower()}",
    )
    name = forms[index // len(_ANIMALS) % len(forms)]
    return name if index < 4 * len(_ANIMALS) else f"{name}-{index}"


def _id(index: int) -> str:
    if index % 9 == 4:
        # These ids differ in the last digits only: as floats, three of them are equal.
        return str(_GOOGLE + 1_000_000 * (index // 27) + index % 27)
    if index % 3 == 1:
        return str(_ACCOUNT + 7_919 * index)
    if index % 41 == 40:
        return f"00{index}"
    return str(_SNOWFLAKE + 1_004_729_000_000_017 * index)


_TRAP_NAME_AT = {5 + 7 * place: name for place, name in enumerate(TRAP_NAMES)}

USERS = tuple(User(i, _id(i), _TRAP_NAME_AT.get(i, _ordinary_name(i))) for i in range(180))
TRAP_USERS = tuple(USERS[i] for i in _TRAP_NAME_AT)
AGENT = User(len(USERS), "990000001", "Sample Agent")
