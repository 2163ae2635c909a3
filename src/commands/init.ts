import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { soundEnvironment } from '../config/environment.ts';
import { checkConfig } from '../config/load.ts';
import { catalogNames } from '../configured-feeds.ts';
import { UsageError } from '../errors.ts';
import { examineUpstreams } from './examining-upstreams.ts';
import { exitCode } from './exit.ts';
import { tell } from './output.ts';
import { printChecked } from './printing-checked.ts';

/** The options of `init`, as text; what is given several times is a list. */
export interface InitOptions {
  readonly network?: string | undefined;
  readonly chainData?: string | undefined;
  readonly metrics?: string | undefined;
  readonly node: readonly string[];
  readonly chain: readonly string[];
  readonly nodeId: readonly string[];
  readonly address: readonly string[];
  /** False: upstreams are not asked whether they answer. */
  readonly check: boolean;
}

/** The answers that the file is made of. An empty text: not wanted. */
interface Answers {
  readonly network: string;
  readonly chainData: string;
  readonly metrics: string;
  readonly nodes: readonly string[];
  readonly chains: readonly string[];
  readonly nodeIds: readonly string[];
  readonly addresses: readonly string[];
}

const CHAIN_DATA = 'https://data-api.avax.network';
const METRICS = 'https://metrics.avax.network';
/** Editors complete and check the file with it. */
const SCHEMA = fileURLToPath(new URL('../../docs/recorder.schema.json', import.meta.url));

/**
 * `init`: writes the configuration file from the options, and asks on a terminal for what they leave out. It never
 * overwrites a file. Each upstream is asked whether it answers; the file is written all the same.
 * @returns 1 where an upstream does not answer as it should
 * @throws UsageError when the file is there already, or an answer is not valid
 */
export async function initCommand(file: string, options: InitOptions, signal: AbortSignal): Promise<number> {
  if (existsSync(file))
    throw new UsageError([
      `${file}: is there already, and is not overwritten: edit it, or name another one with --config`,
    ]);
  const answers = process.stdin.isTTY && process.stderr.isTTY ? await asked(options, signal) : given(options);
  const text = fileOf(answers);
  const config = checkConfig(settingsOf(answers), catalogNames, file);
  writeFileSync(file, text, { flag: 'wx' });
  process.stdout.write(`${file} was written\n`);
  if (!options.check) return exitCode.done;
  const checked = await examineUpstreams(config, soundEnvironment().environment, signal);
  printChecked(checked);
  tell(
    'next: "chain-recorder doctor" looks at everything, "chain-recorder plan" shows what will be asked, "chain-recorder up" records',
  );
  return checked.every(({ ok }) => ok) ? exitCode.done : exitCode.failed;
}

function given(options: InitOptions): Answers {
  const network = options.network ?? 'mainnet';
  return {
    network,
    chainData: options.chainData ?? CHAIN_DATA,
    metrics: options.metrics ?? METRICS,
    nodes: options.node,
    chains: options.chain.length > 0 ? options.chain : [network === 'mainnet' ? '43114' : '43113'],
    nodeIds: options.nodeId,
    addresses: options.address,
  };
}

/** Asks for what the options leave out. What is in brackets holds where nothing is answered. */
async function asked(options: InitOptions, signal: AbortSignal): Promise<Answers> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ask = async (question: string, preset: string) => {
    const answer = (await terminal.question(`${question} [${preset || 'none'}] `, { signal })).trim();
    return answer === '-' ? '' : answer || preset;
  };
  const list = async (question: string, preset: readonly string[]) =>
    (await ask(question, preset.join(' '))).split(/[\s,]+/).filter(Boolean);
  try {
    tell('Return takes what is in brackets, - means none.');
    const network = options.network ?? (await ask('Network (mainnet or fuji)', 'mainnet'));
    const preset = given({ ...options, network });
    return {
      network,
      chainData: options.chainData ?? (await ask('URL of the chain data service', preset.chainData)),
      metrics: options.metrics ?? (await ask('URL of the metrics service', preset.metrics)),
      nodes:
        options.node.length > 0
          ? options.node
          : await list('URLs of your nodes, such as http://10.0.0.11:9650', []),
      chains:
        options.chain.length > 0
          ? options.chain
          : await list('Chains whose metrics are recorded, by id', preset.chains),
      nodeIds: options.nodeId.length > 0 ? options.nodeId : await list('Validators to watch (NodeID-…)', []),
      addresses:
        options.address.length > 0
          ? options.address
          : await list('Addresses to watch (P-avax1…, X-avax1…)', []),
    };
  } finally {
    terminal.close();
  }
}

/** A node is given as its URL, or as NAME=URL. */
const nodesOf = ({ nodes }: Answers) =>
  nodes.map((text, at) => {
    const [, name = `node-${at + 1}`, url = text] = /^([A-Za-z0-9._-]+)=(.*)$/.exec(text) ?? [];
    return { name, url };
  });

function settingsOf(answers: Answers) {
  const { network, chainData, metrics, chains, nodeIds, addresses } = answers;
  return {
    network,
    upstreams: {
      ...(chainData ? { chainData: { url: chainData, apiKeyHeader: 'x-glacier-api-key' } } : {}),
      ...(metrics ? { metrics: { url: metrics } } : {}),
      nodes: nodesOf(answers),
    },
    watch: { chains, nodeIds, addresses },
  };
}

/** The file: the answers, and beside them what one may want to say next. */
function fileOf(answers: Answers): string {
  const { network, upstreams, watch } = settingsOf(answers);
  const part = (value: object) =>
    stringify(value, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' });
  return `# yaml-language-server: $schema=${SCHEMA}
# What chain-recorder records. All settings: docs/settings.md. Check it with "chain-recorder doctor".
${part({ network })}
# The services that are asked. Keys come from the environment: CHAIN_DATA_API_KEY is sent in apiKeyHeader.
# What your plan allows goes beside a url as  budget: { perMinute: 6000, perDay: 1200000 }
${part({ upstreams })}
# What they are asked about. Every list may be empty.
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
