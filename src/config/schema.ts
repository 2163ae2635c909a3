import { z } from 'zod';
import { isHttpUrl } from './addresses-schema.ts';
import { alertsSchema, type RuleLimits } from './alerts-schema.ts';
import { changesSchema } from './changes-schema.ts';
import { duration } from './duration-schema.ts';
import { exportsSchema } from './exports-schema.ts';
import { healthSchema } from './health-schema.ts';
import { assetId, evmChain, metricsChain, nodeId, primaryAddress, subnetId } from './ids.ts';
import { isNetwork } from './network-ranges.ts';
import { NETWORK_NAMES } from './networks.ts';
import { retentionSchema } from './retention-schema.ts';

const serviceUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http or https URL without spaces')
  .refine((text) => {
    const { username, password, search } = URL.canParse(text) ? new URL(text) : new URL('http://-');
    return username + password + search === '';
  }, 'must carry no credentials and no query: secrets come from the environment')
  .refine((text) => !text.includes('#'), 'must carry no fragment (#…): it is never sent')
  .meta({ examples: ['https://service.example'] });

const budget = z
  .strictObject({
    perMinute: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'The most in a minute.', unit: 'budget units', absent: 'no limit' }),
    perDay: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'The most in a day (UTC).', unit: 'budget units', absent: 'no limit' }),
  })
  .describe('What the upstream allows a key, in its own units. `plan` shows what is asked.')
  .meta({ absent: 'only its 429 answers slow the recorder down' });

const service = {
  url: serviceUrl.describe('Where it is: http or https, without credentials and without a query.'),
  timeout: duration.prefault('30s').describe('The longest that one call may take.'),
};

const metered = z.strictObject({
  ...service,
  apiKeyHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be a header name')
    .optional()
    .meta({
      description: 'The header that carries the key from CHAIN_DATA_API_KEY or METRICS_API_KEY.',
      absent: 'no key is sent',
    }),
  budget: budget.optional(),
});

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be letters, digits, dots, dashes or underscores');
/** Letter case is ignored: an address in any case is the same target. */
const evmAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')
  .toLowerCase();
const chain = evmChain.describe('The id of the EVM chain, in quotes.');
const addressOnChain = z.strictObject({
  chain,
  address: evmAddress.describe('0x and 40 hexadecimal digits, in upper or lower case.'),
});
const list = <T extends z.ZodType>(element: T) =>
  z
    .array(element)
    .nullish()
    .transform((value) => value ?? [])
    .meta({ absent: 'none' });
const tags = list(z.string().regex(/^[A-Za-z0-9]+$/, 'must be a tag, such as a subnet id')).describe(
  'Health tags, such as subnet ids: each is probed for itself beside the whole node.',
);

const proxyAddress = z
  .string()
  .refine(isNetwork, 'must be an IP address such as 10.0.0.5, or a range such as 10.0.0.0/24')
  .meta({ examples: ['10.0.0.5'] });

/** Names of the catalog, for the validation of names. The catalog itself is in a higher layer. */
export interface CatalogNames {
  readonly datasets: readonly string[];
  readonly metrics: readonly string[];
  readonly intervals: readonly string[];
  /** Default rules of alerts with their limits. */
  readonly alertRules: RuleLimits;
  /**
   * Returns the reason why a setting of a dataset has no effect. Returns null if it has one, or if there is
   * no such dataset or setting.
   */
  withoutEffect(dataset: string, setting: string): string | null;
  /** Minimum retention of each dataset that can have one, in ms. */
  readonly shortestRetention: ReadonlyMap<string, number>;
}

/** Returns the schema of `recorder.yaml` (contract section 2). */
export function configSchema(names: CatalogNames) {
  const override = z
    .strictObject({
      enabled: z.boolean().optional().meta({ description: 'False: it is not recorded.', absent: 'true' }),
      every: duration
        .optional()
        .meta({ description: 'How often it is recorded.', absent: 'as docs/datasets.md tells for each' }),
      confirmShrink: z
        .strictObject({
          observations: z.int().min(1).max(100).optional().meta({
            description: 'Consecutive complete observations that must miss a member; 1: no confirmation.',
            unit: 'observations',
            absent: '2',
          }),
          minDuration: duration
            .optional()
            .meta({ description: 'Minimum time between the first and the last of them.', absent: 'none' }),
        })
        .optional()
        .meta({
          description:
            'When members count as gone after a list is suddenly empty or lost more than half of its members. A member whose own end has passed needs no confirmation.',
          absent: 'when the next observation agrees',
        }),
      since: z.iso
        .date('must be a date such as 2025-01-31')
        .optional()
        .meta({
          description:
            'Where the recording is expected to begin. Of datasets whose past can be asked for by time.',
          unit: 'a day (UTC)',
          absent: 'as far back as it looks at its first recording',
          examples: ['2025-01-31'],
        }),
      pageSize: z.int().min(1).max(10_000).optional().meta({
        description:
          'Fewer items a page than the service would give. Of datasets whose service takes a page size.',
        unit: 'items',
        absent: 'as many as the service gives',
      }),
      metrics: z
        .array(z.enum(names.metrics))
        .nonempty()
        .optional()
        .meta({ description: 'Only these metrics. Of metric_points.', absent: 'all' }),
      intervals: z
        .array(z.enum(names.intervals))
        .nonempty()
        .optional()
        .meta({ description: 'Only these intervals. Of metric_points.', absent: 'all' }),
    })
    .meta({ description: 'Of the dataset that is called so.', absent: 'as it is declared' });
  return z.strictObject({
    network: z
      .enum(NETWORK_NAMES)
      .describe(
        'The network that is recorded; testnet is another name of fuji, sandbox is the simulated network.',
      ),
    name: name
      .default('recorder')
      .describe(
        "This recorder's name. Processes of one name are one recorder, of which the newest configuration decides; those that are meant to be apart in one database have names of their own.",
      ),
    observer: name.optional().meta({
      description: "This recorder's name in the health ledger, unique among those that watch the same nodes.",
      absent: 'its name',
    }),
    upstreams: z
      .strictObject({
        chainData: metered
          .optional()
          .meta({ description: 'The chain data service.', absent: 'it is not asked' }),
        metrics: metered.optional().meta({ description: 'The metrics service.', absent: 'it is not asked' }),
        nodes: list(
          z.strictObject({
            name: name.describe('Its name in the record, unique among the nodes.'),
            ...service,
            nodeId: nodeId.optional().meta({
              description:
                'The id of the node that the name stands for. Set it when the name is to stand for another node than before.',
              absent: 'that of the node that answers first',
            }),
            tags,
          }),
        ).describe('The nodes that are asked, and whose health is probed.'),
      })
      .default({ nodes: [] })
      .describe('The services that are asked.'),
    watch: z
      .strictObject({
        chains: list(metricsChain).describe(
          'Chains whose metrics are recorded: ids of EVM chains in quotes, or total, mainnet or testnet for all chains together.',
        ),
        nodeIds: list(nodeId).describe(
          'Validators whose proposed blocks, pending rewards and delegations are recorded.',
        ),
        subnets: list(subnetId).describe(
          'Subnets and L1s whose validators the nodes are asked for, beside the primary network.',
        ),
        addresses: list(primaryAddress).describe(
          'Addresses of the primary network, such as P-avax1…: balances, staking, pending rewards, unspent outputs. With C-, or without a chain: balances on the C-chain that are exported from it or to it, too.',
        ),
        evmAddresses: list(addressOnChain).describe(
          'Addresses of EVM chains: balances, transactions, transfers, deployed contracts.',
        ),
        contracts: list(addressOnChain).describe('Contracts whose deployment is recorded.'),
        collections: list(addressOnChain).describe('NFT contracts whose tokens are recorded.'),
        transactions: list(
          z.strictObject({
            chain,
            hash: z
              .string()
              .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hexadecimal digits')
              .toLowerCase()
              .describe('0x and 64 hexadecimal digits, in upper or lower case.'),
          }),
        ).describe('Transactions of EVM chains that are recorded.'),
        assets: list(assetId).describe('Assets of the X-chain: what they are, and balances of each.'),
      })
      .prefault({})
      .describe('What the services are asked about. Every part may be empty.'),
    health: healthSchema.prefault({}).describe('How the health of nodes is judged and reported.'),
    runs: z
      .strictObject({
        keep: duration
          .prefault('30d')
          .describe('How long runs are stored one by one. Older ones are only counted by day (run_days).'),
        keepWritten: duration
          .prefault('90d')
          .describe('How long runs that wrote rows are stored one by one.'),
      })
      .prefault({})
      .describe('What is kept about runs.'),
    changes: changesSchema(names.datasets)
      .prefault({})
      .describe('The [change feed](feed.md), and who is sent it.'),
    retention: retentionSchema(names.shortestRetention).describe(
      'How long what is recorded is kept, by dataset: [operations](operations.md#retention). Absent, or not named: for ever.',
    ),
    server: z
      .strictObject({
        names: list(z.hostname('must be a host name, without a port')).describe(
          'Host names under which the server is reached, beside localhost and its own address.',
        ),
        proxies: list(proxyAddress).describe(
          'Addresses, or ranges of them, of proxies that check themselves who asks: what comes from there needs no token.',
        ),
        public: list(z.enum(['status', 'badge'])).describe(
          'What everybody may see without a token: `status`, the status page of the nodes, and `badge`, their badges.',
        ),
        status: z
          .strictObject({
            title: z.string().trim().min(1).max(100).default('Status of the nodes').describe('Its title.'),
            text: z.string().trim().min(1).max(2_000).optional().meta({
              description: 'A text of your own below the title. An empty line begins a new paragraph.',
              absent: 'none',
            }),
            logo: z.string().min(1).optional().meta({
              description:
                'A file with a logo, SVG or PNG, of at most 256 kB. Its path begins where the recorder is started.',
              absent: 'none',
            }),
          })
          .prefault({})
          .describe('The status page of the nodes, `/status`.'),
      })
      .prefault({})
      .describe('The HTTP server.'),
    alerts: alertsSchema(names.alertRules)
      .prefault({})
      .describe('Who is told what, and when: [alerts](alerts.md).'),
    exports: exportsSchema(names.datasets).describe(
      'What is exported for a warehouse by schedule, each time what was recorded since: [export](export.md).',
    ),
    datasets: z
      .partialRecord(z.enum(names.datasets), override)
      .default({})
      .describe('What is done otherwise for a dataset, by its name.'),
  });
}

export type Config = z.infer<ReturnType<typeof configSchema>>;
