import { describe, expect, it } from 'vitest';
import { commandLine } from '../../src/cli/program.ts';
import { readVersion } from '../../src/lib/version.ts';

const { commands } = commandLine();

/** Returns the help of a command. */
function helpOf(name: string): string {
  let said = '';
  const command = commandLine().commands.find((one) => one.name() === name);
  command?.configureOutput({ writeOut: (text) => (said += text) });
  command?.outputHelp();
  return said;
}

describe.each(commands.map((command) => command.name()))('%s --help', (name) => {
  it('shows examples with valid options of the command, and an output', () => {
    const [, example = ''] = helpOf(name).split('\nExample:\n');
    expect(example).toMatch(
      new RegExp(
        `^(?:  \\S.*chain-recorder ${name}\\b.*\\n|  chain-recorder ${name}\\b.*\\n(?:    .+\\n)*)+$`,
      ),
    );
    expect(example).toMatch(/^ {4}/m);
    const known = commands.find((one) => one.name() === name)?.options.map(({ long }) => long);
    for (const [line] of example.matchAll(/^ {2}\S.*$/gm))
      for (const [option] of line.matchAll(/--[a-z-]+/g)) expect(known).toContain(option);
  });
});

it('--version prints the version of the package', () => {
  let said = '';
  const program = commandLine().configureOutput({ writeOut: (text) => (said += text) });
  expect(() => program.parse(['node', 'chain-recorder', '--version'])).toThrow();
  expect(said).toBe(`${readVersion()}\n`);
});
