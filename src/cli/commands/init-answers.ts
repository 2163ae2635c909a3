import { catalogNames } from '../../app/configured-feeds.ts';
import { validateConfig } from '../../config/load.ts';
import { UsageError } from '../../lib/errors.ts';

/** Answers from which `init` writes the file, each as a list; empty: not configured. */
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

export function getDefaultAnswer(name: keyof Answers, network: string): readonly string[] {
  // Without upstreams, the bundled sandbox is recorded.
  if (network === 'sandbox') return [];
  const presets: Partial<Answers> = {
    network: ['mainnet'],
    chainData: ['https://data-api.avax.network'],
    metrics: ['https://metrics.avax.network'],
    chains: [network === 'fuji' || network === 'testnet' ? '43113' : '43114'],
  };
  return presets[name] ?? [];
}

/** Budget units that the public services grant without a key, per IP address, by host. */
const PUBLIC_BUDGETS: ReadonlyMap<string, { readonly perMinute: number; readonly perDay: number }> = new Map([
  ['data-api.avax.network', { perMinute: 6_000, perDay: 1_200_000 }],
  ['glacier-api.avax.network', { perMinute: 6_000, perDay: 1_200_000 }],
  ['metrics.avax.network', { perMinute: 8_000, perDay: 1_200_000 }],
]);

/** Returns the settings of a service. A public service gets the budget that it grants without a key. */
function serviceAt(url: string) {
  const budget = PUBLIC_BUDGETS.get(URL.canParse(url) ? new URL(url).hostname : '');
  return { url, ...(budget && { budget }) };
}

/** Returns the settings for the answers. A node is a URL, or NAME=URL. */
export function buildSettings(answers: Answers) {
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

/**
 * Validates the answer to one question together with the earlier answers.
 * @returns the problems: each with the answer and the reason
 */
export function validateAnswer(name: keyof Answers, answers: Answers): string[] {
  try {
    validateConfig(buildSettings(answers), catalogNames, 'init');
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
