import { describe, expect, it } from 'vitest';
import { commandLine } from '../../src/cli/program.ts';
import { readVersion } from '../../src/lib/version.ts';

const { commands } = commandLine();

/** Returns the help of a command. */
function helpOf(name: string): string {
  let output = '';
  const command = commandLine().commands.find((one) => one.name() === name);
  command?.configureOutput({ writeOut: (text) => (output += text) });
  command?.outputHelp();
  return output;
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
    const options = commands.find((one) => one.name() === name)?.options.map(({ long }) => long);
    for (const [line] of example.matchAll(/^ {2}\S.*$/gm))
      for (const [option] of line.matchAll(/--[a-z-]+/g)) expect(options).toContain(option);
  });
});

it('--version prints the version of the package', () => {
  let output = '';
  const program = commandLine().configureOutput({ writeOut: (text) => (output += text) });
  expect(() => program.parse(['node', 'chain-recorder', '--version'])).toThrow();
  expect(output).toBe(`${readVersion()}\n`);
});
