// Generates completion scripts for three shells from one table of commands: which command the words so far select, and what may follow. A library would
// start the program at each TAB (docs/decisions/0041).

type Table = readonly CompletedCommand[];

export function bashScript(table: Table): string {
  return `# bash completion of patchbay
_patchbay() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" place="" skip="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $skip ]]; then skip=""; continue; fi
${indent(walk(table), 4)}
  done
  COMPREPLY=()
  if [[ -n $skip ]]; then
    case "$place $prev" in
${indent(
  values(table, (choices) => `COMPREPLY=($(compgen -W ${quote(choices.join(" "))} -- "$cur"))`),
  6,
)}
    esac
    return
  fi
  case "$place" in
${indent(
  table.map(
    (command) =>
      `${quote(command.path)}) if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W ${quote(namesOf(command).join(" "))} -- "$cur")); else COMPREPLY=($(compgen -W ${quote(wordsOf(command).join(" "))} -- "$cur")); fi ;;`,
  ),
  4,
)}
  esac
}
complete -o bashdefault -o default -F _patchbay patchbay
`;
}

export function zshScript(table: Table): string {
  return `#compdef patchbay
_patchbay() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}" place="" skip="" word i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -n $skip ]]; then skip=""; continue; fi
${indent(walk(table), 4)}
  done
  if [[ -n $skip ]]; then
    case "$place $prev" in
${indent(
  values(table, (choices) => `found=(${choices.map(quote).join(" ")}); compadd -a found`),
  6,
)}
      *) _files ;;
    esac
    return
  fi
  case "$place" in
${indent(
  table.map(
    (command) =>
      `${quote(command.path)}) if [[ $cur == -* ]]; then found=(${described(optionWords(command))}); else found=(${described(command.words)}); fi ;;`,
  ),
  4,
)}
  esac
  if ((\${#found})); then _describe patchbay found; else _files; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _patchbay "$@"; else compdef _patchbay patchbay; fi
`;
}

export function fishScript(table: Table): string {
  return `# fish completion of patchbay
function __patchbay_place
    set -l place ""
    set -l skip ""
    for word in (commandline -opc)[2..-1]
        if test -n "$skip"
            set skip ""
            continue
        end
        switch "$place $word"
${indent(
  [
    ...steps(table).map(({ place, word, next }) => `case ${quote(`${place} ${word}`)}\n    set place ${quote(next)}`),
    ...takers(table).map(
      ({ place, names }) => `case ${names.map((name) => quote(`${place} ${name}`)).join(" ")}\n    set skip 1`,
    ),
  ],
  12,
)}
        end
    end
    test "$place" = "$argv[1]"
end
complete -c patchbay -f
${table.flatMap(fishLines).join("\n")}
`;
}

function fishLines(command: CompletedCommand): readonly string[] {
  const at = `complete -c patchbay -n ${quote(`__patchbay_place ${quote(command.path)}`)}`;
  return [
    ...command.words.map(({ word, description }) => `${at} -a ${quote(word)} -d ${quote(description)}`),
    // A file may follow where no command can.
    ...(command.words.length === 0 ? [`${at} -F`] : []),
    ...command.options.map((option) => `${at} ${fishOption(option)}`),
  ];
}

function fishOption({ names, description, takesValue, choices }: CompletedOption): string {
  const flags = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = !takesValue ? [] : choices.length === 0 ? ["-r", "-F"] : ["-x", `-a ${quote(choices.join(" "))}`];
  return [...flags, ...value, `-d ${quote(description)}`].join(" ");
}

/** For bash and zsh: each word selects a subcommand, or is an option with its value next. */
function walk(table: Table): readonly string[] {
  return [
    'case "$place $word" in',
    ...steps(table).map(({ place, word: step, next }) => `  ${quote(`${place} ${step}`)}) place=${quote(next)} ;;`),
    ...takers(table).map(
      ({ place, names }) => `  ${names.map((name) => quote(`${place} ${name}`)).join("|")}) skip=1 ;;`,
    ),
    "esac",
  ];
}

function steps(table: Table) {
  const places = new Set(table.map(({ path }) => path));
  return table.flatMap(({ path, words, aliases }) => {
    const entries = [...words.map(({ word }) => ({ alias: word, word })), ...aliases];
    return entries.flatMap(({ alias, word }) => {
      const next = path === "" ? word : `${path} ${word}`;
      return places.has(next) ? [{ place: path, word: alias, next }] : [];
    });
  });
}

function takers(table: Table) {
  return table.flatMap(({ path, options }) => {
    const names = options.filter(({ takesValue }) => takesValue).flatMap((option) => option.names);
    return names.length === 0 ? [] : [{ place: path, names }];
  });
}

/** A case for each option with choices, keyed by "place option". */
function values(table: Table, offer: (choices: readonly string[]) => string): readonly string[] {
  return table.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ names, choices }) => `${names.map((name) => quote(`${path} ${name}`)).join("|")}) ${offer(choices)} ;;`),
  );
}

function wordsOf({ words }: CompletedCommand): readonly string[] {
  return words.map(({ word }) => word);
}

function namesOf({ options }: CompletedCommand): readonly string[] {
  return options.flatMap(({ names }) => names);
}

function optionWords({ options }: CompletedCommand) {
  return options.flatMap(({ names, description }) => names.map((word) => ({ word, description })));
}

/** `word:description`, the format of `_describe`. */
function described(words: CompletedCommand["words"]): string {
  return words.map(({ word, description }) => quote(description === "" ? word : `${word}:${description}`)).join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function indent(lines: readonly string[], by: number): string {
  return lines
    .flatMap((line) => line.split("\n"))
    .map((line) => `${" ".repeat(by)}${line}`)
    .join("\n");
}

export interface CompletedOption {
  /** `-o`, `--output`. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  /** Empty: any value; files are suggested. */
  readonly choices: readonly string[];
}

/** One command, identified by its words: `jobs list`. */
export interface CompletedCommand {
  readonly path: string;
  /** Its subcommands, or the choices of its first argument. */
  readonly words: readonly CompletedWord[];
  /** Aliases of its subcommands: recognised, but not suggested. */
  readonly aliases: readonly { readonly alias: string; readonly word: string }[];
  readonly options: readonly CompletedOption[];
}

export interface CompletedWord {
  readonly word: string;
  readonly description: string;
}
