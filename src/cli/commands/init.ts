import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
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
import { type Answers, buildSettings, getDefaultAnswer } from './init-answers.ts';
import { promptAnswers } from './init-prompts.ts';

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
 * Command `init`: writes the configuration file from the options, and prompts on a terminal for the others.
 * Never overwrites a file. Sends a request to each upstream after the file is written.
 * @returns 1 if an upstream does not respond correctly, or the user cancelled before the file was written
 * @throws UsageError if the file exists or cannot be written, or an option is invalid
 */
export async function initCommand(options: InitOptions, signal: AbortSignal): Promise<number> {
  const { environment } = readValidEnvironment();
  const file = options.config ?? environment.configFile ?? 'recorder.yaml';
  checkTargetFile(file);
  const said = getOptionAnswers(options);
  validateConfig(buildSettings(addDefaultAnswers(said)), catalogNames, file);
  const nodeIdsOf = async (answers: Answers) =>
    options.check
      ? findNodeIds(validateConfig(buildSettings(answers), catalogNames, file), environment, signal)
      : [];
  const onTerminal = process.stdin.isTTY && process.stderr.isTTY;
  const answers = onTerminal
    ? await promptAnswers(said, nodeIdsOf, signal)
    : await addFoundNodeIds(addDefaultAnswers(said), said, nodeIdsOf);
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
function addDefaultAnswers(said: Partial<Answers>): Answers {
  const preset = (name: keyof Answers) => said[name] ?? getDefaultAnswer(name, said.network?.[0] ?? '');
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
  return `# yaml-language-server: $schema=${SCHEMA}
# What chain-recorder records. All settings: docs/reference/settings.md. Check it with "chain-recorder doctor".
${part({ network })}
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
