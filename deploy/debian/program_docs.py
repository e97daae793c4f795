#!/usr/bin/env python3
"""Writes man pages and completions for bash and zsh out of what the programs
print for --help-all, so that they name the flags that exist.

usage: program_docs.py BINARY_DIR OUTPUT_DIR PROGRAM...

Writes OUTPUT_DIR/man/PROGRAM.1.gz, one for each command too (semrank-rank.1.gz),
OUTPUT_DIR/bash/PROGRAM and OUTPUT_DIR/zsh/_PROGRAM.
"""
import dataclasses
import gzip
import pathlib
import re
import subprocess
import sys

FLAG = re.compile(r"  --(?P<no>\[no\])?(?P<name>[\w-]+)(?:=(?P<form>\S+))?(?: \((?P<facts>.*)\))?$")
COMMAND = re.compile(r"  (\w+) +(\S.*)$")


@dataclasses.dataclass
class Flag:
    group: str
    name: str
    form: str  # "" for a boolean flag
    is_boolean: bool
    facts: str
    help: str = ""

    def words(self) -> list[str]:
        """The possible values, if the flag has a fixed set of them."""
        return self.form.split("|") if re.fullmatch(r"[a-z0-9_-]+(\|[a-z0-9_-]+)+", self.form) else []

    def takes_folder(self) -> bool:
        return self.form.startswith("DIR")

    def takes_file(self) -> bool:
        return "FILE" in self.form or "PATH" in self.form

    def spellings(self) -> list[str]:
        if self.is_boolean:
            return [f"--{self.name}", f"--no{self.name}"]
        return [f"--{self.name}=" if self.form else f"--{self.name}"]


@dataclasses.dataclass
class Program:
    """A program or one of its commands."""
    name: str  # "semrank rank"
    version: str
    summary: str = ""
    usage: list[str] = dataclasses.field(default_factory=list)
    commands: dict[str, str] = dataclasses.field(default_factory=dict)
    flags: list[Flag] = dataclasses.field(default_factory=list)

    def page(self) -> str:
        return self.name.replace(" ", "-")


def read_program(binaries: pathlib.Path, name: str) -> Program:
    words = name.split()
    run = lambda flag: subprocess.run([binaries / words[0], *words[1:], flag], check=True, capture_output=True,
                                      text=True, env={}).stdout
    program = Program(name, version=run("--version").split()[1])
    lines = run("--help-all").splitlines()
    program.summary = lines[0].removeprefix(f"{name}: ")
    group = ""
    for line, following in zip(lines[1:], [*lines[2:], ""]):
        flag = FLAG.match(line) if group else None
        command = COMMAND.match(line) if group == "Commands" else None
        if re.match(r"\S.*:$", line) and (FLAG.match(following) or line == "Commands:"):
            group = line.removesuffix(":")
        elif flag:
            program.flags.append(Flag(group, flag["name"], flag["form"] or "", bool(flag["no"]), flag["facts"] or ""))
        elif command:
            program.commands[command[1]] = command[2]
        elif not group:
            program.usage.append(line)
        elif line.startswith("      "):
            program.flags[-1].help += line.strip() + " "
    if not program.flags:
        raise SystemExit(f"program_docs.py: '{name} --help-all' lists no flags in a form that can be read")
    return program


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


# As kExitRejected in model/train/run/publication.h.
MORE_EXIT_CODES = {"semrank-train": " 4: the model was rejected, and the served one stays."}


def man_page(program: Program, others: list[str]) -> str:
    usage = "\n".join(program.usage).strip("\n")
    lines = [f'.TH {program.page().upper()} 1 "" "semrank {program.version}" "User Commands"', ".SH NAME",
             f"{program.page()} \\- {roff(program.summary)}", ".SH DESCRIPTION", ".nf", roff(usage), ".fi"]
    if program.commands:
        lines.append(".SH COMMANDS")
        for name, summary in program.commands.items():
            lines += [".TP", f".BR {program.page()}\\-{name} (1)", roff(summary)]
    group = ""
    for flag in program.flags:
        if flag.group != group:
            group = flag.group
            lines.append(f'.SH "{roff(group).upper()}"')
        form = f"=\\fI{roff(flag.form)}\\fR" if flag.form else ""
        facts = f" ({roff(flag.facts)})" if flag.facts else ""
        lines += [".TP", f"\\fB\\-\\-{'[no]' if flag.is_boolean else ''}{roff(flag.name)}\\fR{form}{facts}",
                  roff(flag.help.strip())]
    lines += [".SH EXIT STATUS", f"0: done. 1: failed. 2: wrong use.{MORE_EXIT_CODES.get(program.name, '')}", ".SH SEE ALSO",
              ",\n".join(f".BR {roff(other)} (1)" for other in others).replace(",\n", " ,\n")]
    return "\n".join(lines) + "\n"


def bash_value_cases(flags: list[Flag]) -> str:
    cases = [f"        --{flag.name}) COMPREPLY=($(compgen -W '{' '.join(flag.words())}' -- \"$cur\")); return ;;"
             for flag in flags if flag.words()]
    for complete, is_wanted in (("_filedir", Flag.takes_file), ("_filedir -d", Flag.takes_folder)):
        names = [f"--{flag.name}" for flag in flags if is_wanted(flag)]
        if names:
            cases.append(f"        {'|'.join(names)}) {complete}; return ;;")
    return "\n".join(cases)


def spellings(program: Program) -> str:
    return " ".join(word for flag in program.flags for word in flag.spellings())


def unique(programs: list[Program]) -> list[Flag]:
    return list({flag.name: flag for program in programs for flag in program.flags}.values())


def bash_completion(program: Program, commands: list[Program]) -> str:
    function = "_" + program.name.replace("-", "_")
    choice = [f"        {command.name.split()[1]}) flags='{spellings(command)}' ;;" for command in commands]
    find_command = "\n".join([
        "    local word command=''", '    for word in "${words[@]:1:cword-1}"; do',
        f"        [[ ' {' '.join(program.commands)} ' == *\" $word \"* ]] && {{ command=$word; break; }}",
        "    done", "    case $command in", *choice,
        f"        *) flags='{' '.join(program.commands)} {spellings(program)}' ;;", "    esac"])
    return f"""# bash completion for {program.name}, made out of its --help-all
{function}()
{{
    local cur prev words cword split flags='{spellings(program)}'
    _init_completion -s || return
    case $prev in
{bash_value_cases(unique([program, *commands]))}
    esac
    $split && return
{find_command if commands else ""}
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
    [[ ${{COMPREPLY-}} == *= ]] && compopt -o nospace
}}
complete -o default -F {function} {program.name}
"""


def zsh_specs(program: Program) -> str:
    specs = []
    for flag in program.flags:
        help_text = re.sub(r"[\[\]:\\']", " ", flag.help.split(". ")[0])
        action = (f"({' '.join(flag.words())})" if flag.words() else "_files" if flag.takes_file() else
                  "_files -/" if flag.takes_folder() else " ")
        for word in flag.spellings():
            specs.append(f"'{word}[{help_text.strip()}]" + (f":{flag.form.replace(':', ' ')}:{action}'" if flag.form else "'"))
    return " ".join(specs)


def zsh_completion(program: Program, commands: list[Program]) -> str:
    cases = [f"  {command.name.split()[1]}) flags=({zsh_specs(command)}) ;;" for command in commands]
    names = "|".join(program.commands)
    choose = "\n".join([f"case ${{words[(r)({names})]}} in", *cases, "esac"]) if commands else ""
    words = f"'1:command:({' '.join(program.commands)})' " if commands else ""
    return f"""#compdef {program.name}
# program_docs.py wrote this from the program's --help-all.
local -a flags
flags=({zsh_specs(program)})
{choose}
_arguments $flags {words}'*:file:_files'
"""


def main() -> None:
    binaries, output, names = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    for folder in ("man", "bash", "zsh"):
        (output / folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        program = read_program(binaries, name)
        commands = [read_program(binaries, f"{name} {command}") for command in program.commands]
        (output / "bash" / name).write_text(bash_completion(program, commands))
        (output / "zsh" / f"_{name}").write_text(zsh_completion(program, commands))
        for page in (program, *commands):
            others = [other for other in [*names, *(command.page() for command in commands)] if other != page.page()]
            # mtime=0: the same programs give the same package, to the byte.
            (output / "man" / f"{page.page()}.1.gz").write_bytes(
                gzip.compress(man_page(page, others).encode(), mtime=0))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    main()
