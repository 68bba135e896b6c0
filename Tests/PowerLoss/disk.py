"""The possible states of a disk after a power loss, computed from the preceding system calls.

`Trace` reads the output of strace: operations on names and bytes below a directory, syncs, and bytes sent to clients, in one order. A call may
have its effect at any moment between its start and its end. `Disk` computes the possible states after a power loss, in two models:

- `strict` is exactly the promise of POSIX (ALICE's default abstract persistence model). Bytes are durable when a sync of their file that began
  after the write has ended; names are durable when a sync of (one of) their directory has. Everything else may be present or not, in any
  combination and order: some blocks of the bytes, or the length of a longer file without its bytes, which are zeros then. A rename is atomic.
- `ordered` is a journal of all changes of names and lengths in order, as of ext4 with data=ordered, or the log of XFS: a prefix of the changes
  is present, and every sync that writes to the journal makes all earlier ones durable. Bytes are as in `strict`. Its states are a subset of
  the states of `strict`.

Calls without a promise are not followed: sync_file_range, and the memory of SQLite's `-shm` file, which has nothing durable: the first process
that opens it truncates it and rebuilds it from the log. A state gets one with random bytes. An unknown call that changes files ends the run,
since the model would be incomplete.
"""

import bisect
import collections
import os
import random
import re

CALLS = """open openat openat2 creat close dup dup2 dup3 fcntl write pwrite64 writev pwritev pwritev2 ftruncate truncate fallocate rename
    renameat renameat2 link linkat symlink symlinkat unlink unlinkat rmdir mkdir mkdirat fsync fdatasync syncfs sync sendto sendmsg sendmmsg
    sendfile copy_file_range splice mmap msync io_uring_setup io_submit fstat stat lstat newfstatat statx""".split()

PAGE = 4096
STRICT, ORDERED = "strict", "ordered"
#: The possible effects of a power loss on an operation; a number is the seed of a torn write. Other operations are present or
#: not.
ABSENT, LENGTH = "absent", "length"

HEX = rb'((?:\\x[0-9a-f]{2})*)'
DESCRIPTOR = rb'(-?\d+|AT_FDCWD)(?:<' + HEX + rb'>(?:\(deleted\))?)?'
PATH = rb'"' + HEX + rb'"'
DIRECTORY_PATH = DESCRIPTOR + rb', ' + PATH


class UnknownCall(Exception):
    pass


def unhex(text):
    return bytes.fromhex(text.replace(b"\\x", b"").decode())


class File:
    """A file with any names; its number is the order of its creation."""

    def __init__(self, number, path):
        self.number, self.path = number, path
        self.size, self.pages = 0, set()
        #: Inode number and time of the last change (ns) as the service saw them, with their position in the trace.
        self.identities = []

    def identity(self, position):
        seen = [identity for start, identity in self.identities if start <= position]
        return seen[-1] if seen else None


class Operation:
    """A change that a power loss may undo."""

    def __init__(self, start, end, text):
        self.start, self.end, self.text = start, end, text
        #: The position in the trace at which it becomes durable, by model.
        self.lasts = {STRICT: float("inf"), ORDERED: float("inf")}


class Naming(Operation):
    """Names that change to files, to directories (True) or to nothing, in one step."""

    def __init__(self, start, end, text, names):
        super().__init__(start, end, text)
        self.names = names
        self.directories = {os.path.dirname(path) for path, _ in names}


class Write(Operation):
    def __init__(self, start, end, text, file, offset, data):
        super().__init__(start, end, text)
        self.file, self.offset, self.data = file, offset, data
        pages = range(offset // PAGE, (offset + len(data) - 1) // PAGE + 1)
        #: Whether it changes allocation or length, which the journal records.
        self.is_new = offset + len(data) > file.size or not file.pages.issuperset(pages)
        file.pages.update(pages)
        file.size = max(file.size, offset + len(data))


class Resize(Operation):
    """A new length, or zeros in a range within it (`hole`)."""

    def __init__(self, start, end, text, file, size, hole=None):
        super().__init__(start, end, text)
        self.file, self.size, self.hole = file, size, hole
        self.is_new = True
        file.size = size


class Sync:
    def __init__(self, start, end, scope, is_full):
        self.start, self.end, self.scope, self.is_full = start, end, scope, is_full


class Trace:
    """The operations of one recording's processes in order, below `root`."""

    def __init__(self, root):
        self.root = root
        self.operations, self.syncs, self.sent = [], [], []
        self.files, self.names = [], {root: True}
        self.position = 0

    def read(self, path):
        """Adds the trace of another process."""
        self.descriptors, self.directories = {}, {}
        open_calls = {}
        with open(path, "rb") as lines:
            for line in lines:
                self.position += 1
                process, _, text = line.rstrip(b"\n").partition(b" ")
                text = text.lstrip()
                if text.startswith((b"+++", b"---")):
                    continue
                if text.endswith(b"<unfinished ...>"):
                    head = text[:-len(b"<unfinished ...>")].rstrip()
                    open_calls[process] = (head, self.begin(head), self.position)
                    continue
                if text.startswith(b"<... "):
                    head, known, start = open_calls.pop(process)
                    text = head + text.partition(b" resumed>")[2]
                else:
                    known, start = self.begin(text), self.position
                match = re.fullmatch(rb"(\w+)\((.*)\) += (-?\w+|\?)(.*)", text, re.DOTALL)
                if match is None:
                    raise UnknownCall(text[:200])
                if match[3] == b"?" or match[3].startswith(b"-"):
                    continue
                self.end(match[1].decode(), match[2], int(match[3], 0), known, start)
        # The process was killed during these calls: they may have had their effect.
        for head, known, start in open_calls.values():
            match = re.match(rb"(\w+)\((.*)", head, re.DOTALL)
            if match[1] in (b"pwrite64", b"unlink", b"rename", b"link"):
                raise UnknownCall(f"a call was cut off: {head[:100]}")

    def begin(self, text):
        """Reads the start of a call: the file of its descriptor, and the bytes that a client may have from here on."""
        match = re.match(rb'(\w+)\(' + DESCRIPTOR, text)
        if match is None:
            return None
        call, path = match[1], unhex(match[3] or b"").decode(errors="replace")
        if path.startswith("socket:") and call in (b"sendto", b"sendmsg", b"write", b"writev"):
            data = b"".join(unhex(part) for part in re.findall(rb'"' + HEX + rb'"', text[:1 << 18]))
            if len(data) > 1:
                self.sent.append((self.position, data))
        if match[2] == b"AT_FDCWD" or not self.is_ours(path):
            return None
        return self.descriptors.get(int(match[2])) or path

    def is_ours(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def end(self, call, arguments, result, known, start):
        handler = getattr(self, "do_" + call, None)
        if handler:
            handler(arguments, result, known, start)
        elif call == "io_uring_setup" or (known and call not in ("close", "sendfile", "fcntl")):
            raise UnknownCall(f"{call}({arguments[:200]})")

    def path(self, directory, name):
        name = unhex(name).decode()
        # SQLite's paths use the descriptor of the data directory.
        through = re.fullmatch(r"/proc/self/fd/(\d+)(/.*)?", name)
        if through and int(through[1]) in self.directories:
            name = self.directories[int(through[1])] + (through[2] or "")
        return os.path.normpath(name if name.startswith("/") else os.path.join(unhex(directory or b"").decode(), name))

    def short(self, path):
        return os.path.relpath(path, self.root)

    def add(self, operation):
        if not operation.file.path.endswith("-shm"):
            self.operations.append(operation)

    # Names

    def do_openat(self, arguments, result, known, start):
        match = re.match(DIRECTORY_PATH + rb", ([A-Z_|]+)", arguments)
        self.opened(self.path(match[2], match[3]), match[4], result, start)

    def do_open(self, arguments, result, known, start):
        match = re.match(PATH + rb", ([A-Z_|]+)", arguments)
        self.opened(self.path(b"", match[1]), match[2], result, start)

    def opened(self, path, flags, result, start):
        self.descriptors.pop(result, None)
        self.directories.pop(result, None)
        if not self.is_ours(path):
            return
        if self.names.get(path) is True:
            self.directories[result] = path
        flags = flags.split(b"|")
        if b"O_TMPFILE" in flags or b"O_APPEND" in flags:
            raise UnknownCall(f"open of {path} with {flags}")
        file = self.names.get(path)
        if file is None and b"O_CREAT" in flags:
            file = File(len(self.files), self.short(path))
            self.files.append(file)
            self.bind(start, f"create {self.short(path)}", [(path, file)])
        if isinstance(file, File):
            self.descriptors[result] = file
            if b"O_TRUNC" in flags and file.size:
                self.add(Resize(start, self.position, f"truncate {self.short(path)}", file, 0))

    def do_dup(self, arguments, result, known, start):
        self.descriptors.pop(result, None)
        if isinstance(known, File):
            self.descriptors[result] = known

    do_dup2 = do_dup3 = do_dup

    def do_fcntl(self, arguments, result, known, start):
        if b"F_DUPFD" in arguments:
            self.do_dup(arguments, result, known, start)

    def bind(self, start, text, names):
        self.names.update(names)
        self.operations.append(Naming(start, self.position, text, names))

    def do_mkdir(self, arguments, result, known, start):
        path = self.path(b"", re.match(PATH, arguments)[1])
        if self.is_ours(path):
            self.bind(start, f"mkdir {self.short(path)}", [(path, True)])

    def do_mkdirat(self, arguments, result, known, start):
        match = re.match(DIRECTORY_PATH, arguments)
        path = self.path(match[2], match[3])
        if self.is_ours(path):
            self.bind(start, f"mkdir {self.short(path)}", [(path, True)])

    def do_unlink(self, arguments, result, known, start):
        self.unlinked(self.path(b"", re.match(PATH, arguments)[1]), start)

    def do_unlinkat(self, arguments, result, known, start):
        match = re.match(DIRECTORY_PATH, arguments)
        self.unlinked(self.path(match[2], match[3]), start)

    def unlinked(self, path, start):
        if self.is_ours(path):
            self.bind(start, f"unlink {self.short(path)}", [(path, None)])

    def do_rename(self, arguments, result, known, start):
        match = re.match(PATH + rb", " + PATH, arguments)
        self.renamed(self.path(b"", match[1]), self.path(b"", match[2]), start)

    def do_renameat(self, arguments, result, known, start):
        if b"RENAME_EXCHANGE" in arguments or b"RENAME_WHITEOUT" in arguments:
            raise UnknownCall(arguments)
        match = re.match(DIRECTORY_PATH + rb", " + DIRECTORY_PATH, arguments)
        self.renamed(self.path(match[2], match[3]), self.path(match[5], match[6]), start)

    do_renameat2 = do_renameat

    def renamed(self, old, new, start):
        if self.is_ours(old) or self.is_ours(new):
            file = self.existing(old)
            if file is not self.names.get(new):
                self.bind(start, f"rename {self.short(old)} to {self.short(new)}", [(old, None), (new, file)])

    def existing(self, path):
        if path not in self.names:
            raise UnknownCall(f"{path} comes from elsewhere")
        return self.names[path]

    def do_link(self, arguments, result, known, start):
        match = re.match(PATH + rb", " + PATH, arguments)
        self.linked(self.path(b"", match[1]), self.path(b"", match[2]), start)

    def do_linkat(self, arguments, result, known, start):
        match = re.match(DIRECTORY_PATH + rb", " + DIRECTORY_PATH, arguments)
        self.linked(self.path(match[2], match[3]), self.path(match[5], match[6]), start)

    def linked(self, old, new, start):
        if self.is_ours(old) or self.is_ours(new):
            self.bind(start, f"link {self.short(old)} as {self.short(new)}", [(new, self.existing(old))])

    # Metadata that the service reads, and may record

    def do_fstat(self, arguments, result, known, start):
        self.saw(known, arguments)

    def do_stat(self, arguments, result, known, start):
        self.saw(self.names.get(self.path(b"", re.match(PATH, arguments)[1])), arguments)

    do_lstat = do_stat

    def do_newfstatat(self, arguments, result, known, start):
        match = re.match(DIRECTORY_PATH, arguments)
        self.saw(self.names.get(self.path(match[2], match[3])) if match[3] else known, arguments)

    do_statx = do_newfstatat

    def saw(self, file, arguments):
        if isinstance(file, File):
            inode = re.search(rb"stx?_ino=(\d+)", arguments)
            time = re.search(rb"stx?_mtime=(?:\{tv_sec=)?(\d+).*?nsec=(\d+)", arguments)
            file.identities.append((self.position, (int(inode[1]), int(time[1]) * 1_000_000_000 + int(time[2]))))

    # Bytes

    def do_pwrite64(self, arguments, result, known, start):
        if known:
            match = re.match(DESCRIPTOR + rb', "' + HEX + rb'"(\.\.\.)?, \d+, (\d+)', arguments)
            self.wrote(known, match[3], match[4], int(match[5]), result, start)

    def do_pwritev(self, arguments, result, known, start):
        if known:
            parts = re.findall(rb'iov_base="' + HEX + rb'"(\.\.\.)?', arguments)
            offset = int(re.search(rb"\], \d+, (\d+)", arguments)[1])
            self.wrote(known, b"".join(part for part, _ in parts), any(cut for _, cut in parts), offset, result, start)

    do_pwritev2 = do_pwritev

    def wrote(self, file, data, is_cut, offset, count, start):
        data = unhex(data)[:count]
        if is_cut or len(data) != count or not isinstance(file, File):
            raise UnknownCall(f"a write of {count} bytes to {file} of which {len(data)} are known")
        if data:
            self.add(Write(start, self.position, f"write {len(data)} at {offset} of {file.path}", file, offset, data))

    def do_ftruncate(self, arguments, result, known, start):
        if known:
            size = int(re.search(rb", (\d+)$", arguments)[1])
            if size != known.size:
                self.add(Resize(start, self.position, f"truncate {known.path} to {size}", known, size))

    def do_fallocate(self, arguments, result, known, start):
        if not known:
            return
        flags, offset, length = re.search(rb", ([A-Z0-9_|]+), (\d+), (\d+)$", arguments).groups()
        first, last = int(offset), int(offset) + int(length)
        if flags == b"0":
            if last > known.size:
                self.add(Resize(start, self.position, f"allocate {last} of {known.path}", known, last))
        elif set(flags.split(b"|")) == {b"FALLOC_FL_KEEP_SIZE", b"FALLOC_FL_PUNCH_HOLE"}:
            self.add(Resize(start, self.position, f"punch {first}..<{last} of {known.path}", known, known.size, (first, last)))
        elif flags != b"FALLOC_FL_KEEP_SIZE":
            raise UnknownCall(f"fallocate({arguments})")

    def do_mmap(self, arguments, result, known, start):
        match = re.search(rb"PROT_WRITE.*MAP_SHARED.*, " + DESCRIPTOR, arguments)
        if match and self.is_ours(path := unhex(match[2] or b"").decode()) and not path.endswith("-shm"):
            raise UnknownCall(f"mmap of {path}")

    # Syncs

    def do_fsync(self, arguments, result, known, start):
        if known:
            self.syncs.append(Sync(start, self.position, known, True))

    def do_fdatasync(self, arguments, result, known, start):
        if known:
            self.syncs.append(Sync(start, self.position, known, False))

    def do_syncfs(self, arguments, result, known, start):
        if known:
            self.syncs.append(Sync(start, self.position, None, True))

    def do_sync(self, arguments, result, known, start):
        self.syncs.append(Sync(start, self.position, None, True))


class State:
    """A state of the disk: the trace ends at `position`, and `fates` are the fates of operations that are not simply present, by their number
    in the order."""

    def __init__(self, position, model, fates):
        self.position, self.model, self.fates = position, model, fates


class Disk:
    def __init__(self, trace):
        self.root = trace.root
        self.operations = sorted(trace.operations, key=lambda operation: operation.end)
        self.syncs = sorted(trace.syncs, key=lambda sync: sync.end)
        ends = [operation.end for operation in self.operations]
        open_strict, open_ordered = set(), set()
        seen = 0
        pending = []
        for sync in self.syncs:
            count = bisect.bisect_left(ends, sync.start)
            if count > seen:
                pending = list(range(seen, count))
                open_strict.update(pending)
                open_ordered.update(pending)
                seen = count
            before = [number for number in open_strict if number < count]
            lasting = [number for number in before if self.is_covered(self.operations[number], sync)]
            for number in lasting:
                self.operations[number].lasts[STRICT] = sync.end
                open_strict.discard(number)
            is_journaled = sync.is_full or any(getattr(self.operations[number], "is_new", False) for number in lasting)
            for number in [number for number in open_ordered if number < count]:
                operation = self.operations[number]
                if number not in open_strict or (is_journaled and not isinstance(operation, Write)):
                    operation.lasts[ORDERED] = sync.end
                    open_ordered.discard(number)

    @staticmethod
    def is_covered(operation, sync):
        if sync.scope is None:
            return True
        if isinstance(operation, Naming):
            return sync.scope in operation.directories
        return sync.scope is operation.file

    def unsynced(self, position, model):
        """The numbers of operations that have begun and are not durable yet."""
        return [number for number, operation in enumerate(self.operations)
                if operation.start <= position < operation.lasts[model]]

    def states(self, positions, dice):
        """All states to check, in waves: each wave has some of every kind, name and file."""
        waves = []
        for number, operation in enumerate(self.operations):
            if isinstance(operation, Naming):
                waves.append(self.naming_states(number, positions, dice))
        waves.append(self.spread([self.worst(position) for position in positions], 100, dice))
        waves.append(self.spread([State(position, STRICT, {}) for position in positions], 20, dice))
        waves.append(self.spread([self.some(position, dice) for position in positions for _ in range(3)], 20, dice))
        waves.append(self.spread([state for position in positions for state in self.ordered_states(position, dice)], 60, dice))
        data = {}
        for position in positions:
            for file, numbers in self.unsynced_data(position).items():
                data.setdefault(file, []).extend(self.data_states(position, numbers, dice))
        waves.extend(self.spread(states, 1, dice) for states in data.values())
        ranked = [(rank, dice.random(), state) for states in waves for rank, state in states]
        ranked.sort(key=lambda entry: entry[:2])
        return [state for _, _, state in ranked]

    @staticmethod
    def spread(states, width, dice):
        """Puts this many of them into each wave."""
        dice.shuffle(states)
        return [(place // width, state) for place, state in enumerate(states)]

    def worst(self, position):
        """Only synced changes are present."""
        return State(position, STRICT, dict.fromkeys(self.unsynced(position, STRICT), ABSENT))

    def naming_states(self, number, positions, dice):
        """States without one change of a name, and with it alone: first those whose names still lead to its result."""
        operation = self.operations[number]
        places = {path for path, _ in operation.names}
        changed = next((later.start for later in self.operations[number + 1:]
                        if isinstance(later, Naming) and places & {path for path, _ in later.names}), float("inf"))
        within = [position for position in positions if operation.start <= position < operation.lasts[STRICT]]
        early = [position for position in within if position < changed]
        late = [position for position in within if position >= changed]
        dice.shuffle(early)
        dice.shuffle(late)
        for wave, position in enumerate(early + late):
            wave += 10 * (position in late)
            yield wave, State(position, STRICT, {number: ABSENT})
            alone = self.worst(position)
            del alone.fates[number]
            yield 2 * wave, alone

    def unsynced_data(self, position):
        data = {}
        for number in self.unsynced(position, STRICT):
            if not isinstance(self.operations[number], Naming):
                data.setdefault(self.operations[number].file, []).append(number)
        return data

    @staticmethod
    def data_states(position, numbers, dice):
        """Ways to lose bytes of one file."""
        yield State(position, STRICT, dict.fromkeys(numbers, ABSENT))
        yield State(position, STRICT, dict.fromkeys(numbers, LENGTH))
        yield State(position, STRICT, {number: dice.getrandbits(32) for number in numbers})
        yield State(position, STRICT, {dice.choice(numbers): ABSENT})
        yield State(position, STRICT, {numbers[-1]: dice.getrandbits(32)})

    def some(self, position, dice):
        fates = {}
        for number in self.unsynced(position, STRICT):
            if dice.random() < 0.5:
                fates[number] = dice.choice([ABSENT, LENGTH, dice.getrandbits(32)])
        return State(position, STRICT, fates)

    def ordered_states(self, position, dice):
        numbers = self.unsynced(position, ORDERED)
        writes = [number for number in numbers if isinstance(self.operations[number], Write)]
        journal = [number for number in numbers if number not in writes]
        for count in range(len(journal) + 1):
            lost = dict.fromkeys(journal[count:], ABSENT)
            yield State(position, ORDERED, lost)
            if writes:
                yield State(position, ORDERED, lost | dict.fromkeys(writes, ABSENT))
                torn = {number: dice.getrandbits(32) for number in writes if dice.random() < 0.5}
                yield State(position, ORDERED, lost | torn)

    def is_ordered(self, state):
        """Whether an ordered journal may leave the state, too."""
        numbers = self.unsynced(state.position, ORDERED)
        journal = [number for number in numbers if not isinstance(self.operations[number], Write)]
        absent = [number for number in state.fates if not isinstance(self.operations[number], Write)]
        return state.fates.keys() <= set(numbers) and sorted(absent) == journal[len(journal) - len(absent):]

    # The contents of a state

    def contents(self, state):
        """The targets of a state's names: paths, and the operations, with their fates, of each file's bytes."""
        names, made = {}, {}
        for number, operation in enumerate(self.operations):
            if operation.start > state.position:
                continue
            fate = state.fates.get(number)
            if isinstance(operation, Naming):
                if fate is None:
                    names.update(operation.names)
            elif fate is not None and isinstance(operation, Resize):
                continue
            elif fate != ABSENT:
                made.setdefault(operation.file, []).append((number, fate))
        names = {path: file for path, file in names.items() if file is not None}
        reachable = {path: file for path, file in names.items() if self.is_reachable(path, names)}
        return reachable, {file: tuple(made.get(file, ())) for file in reachable.values() if file is not True}

    def is_reachable(self, path, names):
        parent = os.path.dirname(path)
        return parent == self.root or (names.get(parent) is True and self.is_reachable(parent, names))

    def key(self, state):
        names, made = self.contents(state)
        return (tuple(sorted((path, -1 if file is True else file.number) for path, file in names.items())),
                tuple(sorted((file.number, parts) for file, parts in made.items())))

    def bytes(self, parts):
        data = bytearray()
        for number, fate in parts:
            operation = self.operations[number]
            if isinstance(operation, Resize):
                if operation.hole:
                    first, last = operation.hole
                    last = min(last, len(data))
                    if first < last:
                        data[first:last] = bytes(last - first)
                elif operation.size < len(data):
                    del data[operation.size:]
                else:
                    data.extend(bytes(operation.size - len(data)))
                continue
            blocks = [(0, len(operation.data))]
            end = operation.offset + len(operation.data)
            if fate == LENGTH:
                blocks = []
            elif fate is not None:
                blocks, end = self.torn(operation, fate)
            if end > len(data):
                data.extend(bytes(end - len(data)))
            for first, last in blocks:
                data[operation.offset + first:operation.offset + last] = operation.data[first:last]
        return data

    @staticmethod
    def torn(operation, seed):
        """The pieces of a write that reached the disk, and the minimum length of the file."""
        dice = random.Random(seed)
        size = dice.choice([512, PAGE])
        blocks, first = [], 0
        while first < len(operation.data):
            last = min(len(operation.data), first + size - (operation.offset + first) % size)
            if dice.random() < 0.5:
                blocks.append((first, last))
            first = last
        reached = blocks[-1][1] if blocks else 0
        return blocks, operation.offset + dice.choice([reached, len(operation.data)])

    def make(self, state, target):
        """Creates the state's files in an empty directory. Returns the numbers of their inodes for `identity.c`, since on a disk they
        outlast a power loss."""
        names, made = self.contents(state)
        first_names, inodes = {}, []
        for path in sorted(names):
            file, place = names[path], os.path.join(target, os.path.relpath(path, self.root))
            if file is True:
                os.mkdir(place, 0o700)
            elif file in first_names:
                os.link(first_names[file], place)
            else:
                data = random.Random(state.position).randbytes(32 << 10) if path.endswith("-shm") else self.bytes(made[file])
                with open(place, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as output:
                    output.write(data)
                first_names[file] = place
                if identity := file.identity(state.position):
                    os.utime(place, ns=(identity[1], identity[1]))
                    inodes.append(f"{os.stat(place).st_ino}={identity[0]}")
        return ",".join(inodes)

    def lost_names(self, state):
        """The missing changes of a state other than bytes, in words."""
        operations = [self.operations[number] for number in sorted(state.fates)]
        return [operation.text for operation in operations if not isinstance(operation, Write)]

    def lost_bytes(self, state):
        fates = {}
        for number, fate in state.fates.items():
            if isinstance(operation := self.operations[number], Write):
                kind = {ABSENT: "lost", LENGTH: "zeros"}.get(fate, "torn")
                fates.setdefault(operation.file.path, collections.Counter())[kind] += 1
        return [f"{count} writes to {path} ({kind})" for path, kinds in fates.items() for kind, count in kinds.items()]
