import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { catalogNames } from '../../app/configured-feeds.ts';
import { exitCode } from '../../app/exit-code.ts';
import { readValidEnvironment } from '../../config/environment.ts';
import { validateConfig } from '../../config/load.ts';
import { checkUpstreams, findNodeIds } from '../../doctor/check-upstreams.ts';
import { UsageError } from '../../lib/errors.ts';
import { packageFile } from '../../lib/package-file.ts';
import { printJson, printLine, printNotice } from '../../lib/print.ts';
import { assertWritable, explainWriteErrors } from '../../lib/write-errors.ts';
import { printCheckResults } from '../output/print-checks.ts';
import { type Answers, buildSettings, getDefaultAnswer, NO_ANSWERS, validateAnswer } from './init-answers.ts';

/** Options of `init`, as text; repeatable options are lists. */
export interface InitOptions {
  readonly network?: string | undefined;
  readonly chainData?: string | undefined;
  readonly metrics?: string | undefined;
  readonly node?: readonly string[];
  readonly chain?: readonly string[];
  readonly nodeId?: readonly string[];
  readonly address?: readonly string[];
  /** False: no request is sent to the upstreams. */
  readonly check: boolean;
  /** The configuration file. Default: RECORDER_CONFIG, else recorder.yaml. */
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
}

/** JSON Schema for completion and validation in editors. */
const SCHEMA = fileURLToPath(packageFile('docs/recorder.schema.json'));

/**
 * Command `init`: writes the configuration file from the options, and prompts on a terminal for missing
 * options. Never overwrites a file. Sends a request to each upstream after the file is written.
 * @returns 1 if an upstream does not respond correctly, or the user cancelled before the file was written
 * @throws UsageError if the file exists or cannot be written, or an option is invalid
 */
export async function initCommand(options: InitOptions, signal: AbortSignal): Promise<number> {
  const { environment } = readValidEnvironment();
  const file = options.config ?? environment.configFile ?? 'recorder.yaml';
  checkTargetFile(file);
  const optionAnswers = getOptionAnswers(options);
  validateConfig(buildSettings(addDefaultAnswers(optionAnswers)), catalogNames, file);
  const nodeIdsOf = async (answers: Answers) =>
    options.check
      ? findNodeIds(validateConfig(buildSettings(answers), catalogNames, file), environment, signal)
      : [];
  const onTerminal = process.stdin.isTTY && process.stderr.isTTY;
  const answers = onTerminal
    ? await promptAnswers(optionAnswers, nodeIdsOf, signal)
    : await addFoundNodeIds(addDefaultAnswers(optionAnswers), optionAnswers, nodeIdsOf);
  if (answers === null) {
    printNotice('nothing was written');
    return exitCode.failed;
  }
  const config = validateConfig(buildSettings(answers), catalogNames, file);
  await explainWriteErrors(file, () => writeFile(file, formatConfigFile(answers), { flag: 'wx' }));
  if (!options.json) printLine(`${file} was written`);
  const checked = options.check ? await checkUpstreams(config, environment, signal) : [];
  if (options.json) printJson({ written: file, checked });
  else if (options.check) printCheckResults(checked);
  printNotice(
    'next: "chain-recorder doctor" checks everything, "chain-recorder plan" shows the requests, "chain-recorder up" records',
  );
  return checked.every(({ ok }) => ok) ? exitCode.done : exitCode.failed;
}

/**
 * Checks the file before any prompt.
 * @throws UsageError if the file exists, or cannot be written
 */
function checkTargetFile(file: string): void {
  if (existsSync(file))
    throw new UsageError([
      `${file}: already exists and is not overwritten: edit it, or name another file with --config`,
    ]);
  assertWritable(file, file);
}

/** Returns the answers from the options. */
function getOptionAnswers({ network, chainData, metrics, ...lists }: InitOptions): Partial<Answers> {
  const one = (text: string) => (text === '' ? [] : [text]);
  return {
    ...(network === undefined ? {} : { network: [network] }),
    ...(chainData === undefined ? {} : { chainData: one(chainData) }),
    ...(metrics === undefined ? {} : { metrics: one(metrics) }),
    ...(lists.node ? { nodes: lists.node } : {}),
    ...(lists.chain ? { chains: lists.chain } : {}),
    ...(lists.nodeId ? { nodeIds: lists.nodeId } : {}),
    ...(lists.address ? { addresses: lists.address } : {}),
  };
}

/** Adds the defaults to missing answers. */
function addDefaultAnswers(answers: Partial<Answers>): Answers {
  const preset = (name: keyof Answers) => answers[name] ?? getDefaultAnswer(name, answers.network?.[0] ?? '');
  return {
    network: preset('network'),
    chainData: preset('chainData'),
    metrics: preset('metrics'),
    nodes: preset('nodes'),
    chains: preset('chains'),
    nodeIds: preset('nodeIds'),
    addresses: preset('addresses'),
  };
}

/** Adds the node ids of the given nodes, unless the options name node ids. */
async function addFoundNodeIds(
  answers: Answers,
  { nodeIds }: Partial<Answers>,
  find: (answers: Answers) => Promise<readonly string[]>,
): Promise<Answers> {
  return nodeIds ? answers : { ...answers, nodeIds: await find(answers) };
}

/** Returns the text of the file: the answers, and comments about further settings. */
function formatConfigFile(answers: Answers): string {
  const { network, upstreams, watch } = buildSettings(answers);
  const part = (value: object) =>
    stringify(value, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' });
  const simulated =
    network === 'sandbox' && !answers.chainData.length && !answers.metrics.length && !answers.nodes.length
      ? '# Without an upstream, the bundled sandbox is recorded. If nothing is watched below, all its objects are recorded.\n'
      : '';
  return `# yaml-language-server: $schema=${SCHEMA}
# What chain-recorder records. All settings: docs/reference/settings.md. Check it with "chain-recorder doctor".
${part({ network })}${simulated}
# The recorded services and nodes. Keys come from the environment: CHAIN_DATA_API_KEY is sent in apiKeyHeader.
# budget: what the public services grant without a key. With a key, write what your plan grants.
${part({ upstreams })}
# What is recorded. Every list may be empty.
#   chains: metrics of EVM chains, by id in quotes   nodeIds: blocks that validators propose, and their rewards
#   addresses: balances, staking and unspent outputs of P-… and X-… addresses
#   more: evmAddresses, contracts, collections, transactions, assets, subnets
${part({ watch })}
# How often, or whether, a dataset is recorded ("chain-recorder datasets" lists them), such as
# datasets:
#   validators: { every: 10m }
#   node_health: { enabled: false }
`;
}

/** Texts of the prompts by answer. */
const QUESTIONS: Readonly<Record<keyof Answers, string>> = {
  network: 'Network (mainnet, fuji or sandbox)',
  chainData: 'URL of the chain data service',
  metrics: 'URL of the metrics service',
  nodes: 'URLs of your nodes, such as http://10.0.0.11:9650',
  chains: 'Chains whose metrics are recorded, by id',
  nodeIds: 'Validators to watch (NodeID-…)',
  addresses: 'Addresses to watch (P-avax1…, X-avax1…)',
};
const NAMES = ['network', 'chainData', 'metrics', 'nodes', 'chains', 'nodeIds', 'addresses'] as const;
/** Questions with a single answer; the answers to the others are lists. */
const SINGLE_ANSWERS: readonly (keyof Answers)[] = ['network', 'chainData', 'metrics'];

/**
 * Prompts for the answers that the options omit. After an invalid answer, prints the reason and prompts
 * again.
 * @param optionAnswers answers from the options
 * @param findNodeIds returns the node ids of the nodes in the answers; they are the default of the validators
 * @returns null if the user cancels with Ctrl-C or Ctrl-D
 */
async function promptAnswers(
  optionAnswers: Partial<Answers>,
  findNodeIds: (answers: Answers) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<Answers | null> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new AbortController();
  terminal.once('close', () => closed.abort());
  const either = AbortSignal.any([signal, closed.signal]);
  const prompt = async (name: keyof Answers, preset: readonly string[]) => {
    const promptText = `${QUESTIONS[name]} [${preset.join(' ') || 'none'}] `;
    const text = (await terminal.question(promptText, { signal: either })).trim();
    if (text === '-') return [];
    if (text === '') return preset;
    return SINGLE_ANSWERS.includes(name) ? [text] : text.split(/[\s,]+/).filter(Boolean);
  };
  let answers = NO_ANSWERS;
  /**
   * Returns the answers with a new answer. Prints the problems and returns null if the new answer is invalid.
   */
  const withAnswer = (name: keyof Answers, answer: readonly string[]) => {
    const all = { ...answers, [name]: answer };
    const problems = validateAnswer(name, all);
    for (const problem of problems) printNotice(problem);
    return problems.length === 0 ? all : null;
  };
  try {
    printNotice('Press Enter to accept the value in brackets, - for none, Ctrl-C to cancel.');
    for (const name of NAMES) {
      // Chains are only used for the metrics service.
      const needless = name === 'chains' && answers.metrics.length === 0;
      const isOffered = name === 'nodeIds' && !optionAnswers.nodeIds && answers.nodes.length > 0;
      const preset = isOffered
        ? await findNodeIds(answers)
        : getDefaultAnswer(name, answers.network[0] ?? '');
      let all = optionAnswers[name] || needless ? { ...answers, [name]: optionAnswers[name] ?? [] } : null;
      while (all === null) all = withAnswer(name, await prompt(name, preset));
      answers = all;
    }
    return answers;
  } catch (error) {
    if (!either.aborted) throw error;
    return null;
  } finally {
    terminal.close();
  }
}
