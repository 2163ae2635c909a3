import { catalogNames } from '../../app/configured-feeds.ts';
import { checkConfig } from '../../config/load.ts';
import { UsageError } from '../../lib/errors.ts';

/** What `init` makes the file of, each as a list; empty: not wanted. */
export type Answers = Readonly<
  Record<
    'network' | 'chainData' | 'metrics' | 'nodes' | 'chains' | 'nodeIds' | 'addresses',
    readonly string[]
  >
>;

export const NO_ANSWERS: Answers = {
  network: [],
  chainData: [],
  metrics: [],
  nodes: [],
  chains: [],
  nodeIds: [],
  addresses: [],
};

/** What holds where nothing is answered. */
export function presetOf(name: keyof Answers, network: string): readonly string[] {
  const presets: Partial<Answers> = {
    network: ['mainnet'],
    chainData: ['https://data-api.avax.network'],
    metrics: ['https://metrics.avax.network'],
    chains: [network === 'fuji' || network === 'testnet' ? '43113' : '43114'],
  };
  return presets[name] ?? [];
}

/** Units that the public services grant without a key: to an address a minute and a day. */
const PUBLIC_BUDGETS: ReadonlyMap<string, { readonly perMinute: number; readonly perDay: number }> = new Map([
  ['data-api.avax.network', { perMinute: 6_000, perDay: 1_200_000 }],
  ['glacier-api.avax.network', { perMinute: 6_000, perDay: 1_200_000 }],
  ['metrics.avax.network', { perMinute: 8_000, perDay: 1_200_000 }],
]);

/** A service with the budget that it grants without a key, if it is a public one. */
function serviceAt(url: string) {
  const budget = PUBLIC_BUDGETS.get(URL.canParse(url) ? new URL(url).hostname : '');
  return { url, ...(budget && { budget }) };
}

/** The settings that answers make. A node is given as its URL, or as NAME=URL. */
export function settingsOf(answers: Answers) {
  const { network, chainData, metrics, nodes, chains, nodeIds, addresses } = answers;
  const named = nodes.map((text, at) => {
    const [, name = `node-${at + 1}`, url = text] = /^([A-Za-z0-9._-]+)=(.*)$/.exec(text) ?? [];
    return { name, url };
  });
  return {
    network: network[0],
    upstreams: {
      ...(chainData[0]
        ? { chainData: { ...serviceAt(chainData[0]), apiKeyHeader: 'x-glacier-api-key' } }
        : {}),
      ...(metrics[0] ? { metrics: serviceAt(metrics[0]) } : {}),
      nodes: named,
    },
    watch: { chains, nodeIds, addresses },
  };
}

/** What is wrong with the answers to one question, beside those before it: each with the answer and the reason. */
export function wrongWith(name: keyof Answers, answers: Answers): string[] {
  try {
    checkConfig(settingsOf(answers), catalogNames, 'init');
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.problems.map((problem) => {
      const [, path = '', reason = problem] = /^init: (\S+): (.*)$/s.exec(problem) ?? [];
      const [, at = '0'] = /\[(\d+)\]/.exec(path) ?? [];
      return `${answers[name][Number(at)] ?? path}: ${reason}`;
    });
  }
}
