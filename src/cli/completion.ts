import type { Command } from 'commander';
import { catalogNames } from '../app/configured-feeds.ts';
import { UsageError } from '../lib/errors.ts';
import { reports } from '../reporting/reports/saved-queries.ts';

/** Shells with completion scripts. */
const SHELLS = { bash, zsh, fish } as const;

/** Completions of a command. */
interface CommandCompletion {
  readonly command: string;
  readonly about: string;
  /**
   * Values of the first argument, such as datasets, reports or actions. Empty if the command has no such
   * argument.
   */
  readonly values: readonly string[];
  readonly options: readonly {
    readonly long: string;
    readonly about: string;
    /** True if the option requires a value. */
    readonly valued: boolean;
  }[];
}

/**
 * Command `completion SHELL`: prints the script that completes commands, options, datasets and reports.
 * @throws UsageError for other shells
 */
export function completionCommand(program: Command, shell: string): void {
  const script = Object.entries(SHELLS).find(([name]) => name === shell)?.[1];
  if (!script)
    throw new UsageError([`completion ${shell}: must be one of ${Object.keys(SHELLS).join(', ')}`]);
  process.stdout.write(script(program.commands.map(getCompletion)));
}

function getCompletion(command: Command): CommandCompletion {
  const [argument] = command.registeredArguments;
  const datasets = argument?.name() === 'dataset' ? catalogNames.datasets : [];
  const names = argument?.name() === 'report' ? reports().map(({ name }) => name) : [];
  return {
    command: command.name(),
    about: plain(command.description()),
    values: [...datasets, ...names, ...(argument?.argChoices ?? [])],
    options: command.options.flatMap(({ long, description, required, optional }) =>
      long ? [{ long, about: plain(description), valued: required || optional }] : [],
    ),
  };
}

/** Removes characters that a shell interprets in quotes. */
const plain = (text: string) => text.replaceAll(/['"`$\\[\]:]/g, '');

function bash(offers: readonly CommandCompletion[]): string {
  const cases = offers.map(({ command, values, options }) => {
    const flags = options.map(({ long }) => long).join(' ');
    return `    ${command}) words="${flags}"; [ "$COMP_CWORD" -eq 2 ] && words="${values.join(' ')} $words" ;;`;
  });
  const valued = new Set(
    offers.flatMap(({ options }) => options.flatMap((one) => (one.valued ? one.long : []))),
  );
  return `# chain-recorder completion for bash: eval "$(chain-recorder completion bash)"
_chain_recorder() {
  COMPREPLY=()
  # After an option that has a value, bash offers files.
  case "\${COMP_WORDS[COMP_CWORD-1]}" in =|${[...valued].join('|')}) return ;; esac
  local words="${offers.map(({ command }) => command).join(' ')}"
  if [ "$COMP_CWORD" -gt 1 ]; then case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="" ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _chain_recorder chain-recorder
`;
}

function zsh(offers: readonly CommandCompletion[]): string {
  const commands = offers.map(({ command, about }) => `    '${command}:${about}'`);
  const cases = offers.map(({ command, values, options }) => {
    const flags = options.map(({ long, about, valued }) =>
      valued ? `'*${long}[${about}]:value:_files'` : `'${long}[${about}]'`,
    );
    const first = values.length > 0 ? [`'2:value:(${values.join(' ')})'`] : [];
    return `    ${command}) _arguments ${[...flags, "'1:command:'", ...first, `'*:file:_files'`].join(' ')} ;;`;
  });
  return `#compdef chain-recorder
# chain-recorder completion for zsh: eval "$(chain-recorder completion zsh)", after compinit
_chain_recorder() {
  local -a commands=(
${commands.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases.join('\n')}
  esac
}
compdef _chain_recorder chain-recorder
`;
}

function fish(offers: readonly CommandCompletion[]): string {
  const lines = offers.flatMap(({ command, about, values, options }) => {
    const within = `complete -c chain-recorder -n '__fish_seen_subcommand_from ${command}'`;
    return [
      `complete -c chain-recorder -f -n __fish_use_subcommand -a ${command} -d '${about}'`,
      ...(values.length > 0 ? [`${within} -f -a '${values.join(' ')}'`] : []),
      ...options.map(
        ({ long, about, valued }) => `${within} -l ${long.slice(2)} ${valued ? '-r -F ' : ''}-d '${about}'`,
      ),
    ];
  });
  return `# chain-recorder completion for fish: chain-recorder completion fish | source\n${lines.join('\n')}\n`;
}
