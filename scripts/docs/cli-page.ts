import type { Command } from 'commander';
import { commandLine } from '../../src/cli/program.ts';

const HEAD = `# Command line

\`chain-recorder COMMAND\`, in a clone, in an installed package and in the image. \`npm start\` is \`chain-recorder up\`.
In a clone or beside an installed package, put the command on the \`PATH\` of the shell first:

\`\`\`sh
export PATH="$PWD/node_modules/.bin:$PATH"
\`\`\`

The commands build nothing. Logs go to stderr: text on a terminal, JSON in a pipe or with \`LOG_FORMAT=json\`. Times without
a zone are UTC. Every key of \`recorder.yaml\` and every environment variable: [settings](settings.md).

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | failed; \`status\`, \`verify\` and \`doctor\`: a problem was found |
| 2 | invalid usage or configuration; every problem is listed |
| 75 | failed, but worth a retry: a database or an upstream is unavailable, or a backfill was interrupted |
`;

/** Returns `docs/reference/cli.md`: the help of every command, in the order of `--help`. */
export function commandLinePage(): string {
  const sections = commandLine().commands.map(
    (command) => `\n## ${command.name()}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  );
  return HEAD + sections.join('');
}

/** The text that `COMMAND --help` prints on a terminal of 100 columns. */
function helpOf(command: Command): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (text) => parts.push(text), getOutHelpWidth: () => 100 }).outputHelp();
  return parts.join('').trim();
}
