import { z } from 'zod';
import { headerNameSchema, isHttpUrl, isOrigin } from './addresses-schema.ts';
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
  .refine((text) => !text.includes('#'), 'must carry no fragment (#…): fragments are never sent')
  .meta({ examples: ['https://service.example'] });

const budget = z
  .strictObject({
    perMinute: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'Maximum per minute.', unit: 'budget units', absent: 'no limit' }),
    perDay: z
      .int()
      .positive()
      .optional()
      .meta({ description: 'Maximum per day (UTC).', unit: 'budget units', absent: 'no limit' }),
  })
  .describe('Limits of the upstream for an API key, in its own units. `plan` shows the requests.')
  .meta({ absent: 'the recorder slows down at HTTP 429 only' });

const service = {
  url: serviceUrl.describe('Base URL: http or https, without credentials and without a query.'),
  timeout: duration.prefault('30s').describe('Maximum duration of a call.'),
};

const metered = z.strictObject({
  ...service,
  apiKeyHeader: headerNameSchema.optional().meta({
    description: 'Header for the API key from CHAIN_DATA_API_KEY or METRICS_API_KEY.',
    absent: 'no key is sent',
  }),
  budget: budget.optional(),
});

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be letters, digits, dots, dashes or underscores');
/** Schema of an EVM address. Letter case is ignored, because an address in any case is the same target. */
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
  'Health tags, such as subnet ids. Each has a probe of its own, besides the probe of the whole node.',
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
  /** Default rules of alerts, each with its limits. */
  readonly alertRules: RuleLimits;
  /**
   * Returns the reason why a setting of a dataset has no effect. Returns null if the setting has an effect,
   * or if there is no such dataset or setting.
   */
  withoutEffect(dataset: string, setting: string, value: unknown): string | null;
  /** Minimum retention of each dataset that can have a retention, in ms. */
  readonly shortestRetention: ReadonlyMap<string, number>;
}

/** Returns the schema of `recorder.yaml`. */
export function configSchema(names: CatalogNames) {
  const override = z
    .strictObject({
      enabled: z
        .boolean()
        .optional()
        .meta({ description: 'False: the dataset is not recorded.', absent: 'true' }),
      every: duration
        .optional()
        .meta({ description: 'Interval of the recording.', absent: 'see docs/reference/datasets/README.md' }),
      confirmShrink: z
        .strictObject({
          observations: z.int().min(1).max(100).optional().meta({
            description: 'Consecutive complete observations that must miss a member; 1: no confirmation.',
            unit: 'observations',
            absent: '2',
          }),
          minDuration: duration.optional().meta({
            description: 'Minimum time between the first and the last of these observations.',
            absent: 'none',
          }),
        })
        .optional()
        .meta({
          description:
            'Confirmation of a list that is suddenly empty or lost more than half of its members: until then no member is retired. A member whose own end has passed needs no confirmation.',
          absent: 'one more observation that agrees',
        }),
      since: z
        .union(
          [z.iso.date(), z.int().nonnegative()],
          'must be a date such as 2025-01-31, or a height such as 0',
        )
        .optional()
        .meta({
          description:
            'First day that is recorded, of datasets whose past can be requested by time; first height, of blocks and transactions that a node returns by height.',
          unit: 'a day (UTC), or a height',
          absent: 'the range of the first poll',
          examples: ['2025-01-31', 0],
        }),
      pageSize: z.int().min(1).max(10_000).optional().meta({
        description:
          'Page size, if it is to be less than the maximum. Of datasets whose service has a page size.',
        unit: 'items',
        absent: 'the maximum of the service',
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
    .meta({ description: 'Settings of the dataset.', absent: 'as declared' });
  return z.strictObject({
    network: z
      .enum(NETWORK_NAMES)
      .describe('The network. testnet is another name of fuji; sandbox is the simulated network.'),
    name: name
      .default('recorder')
      .describe(
        'Name of this recorder. Processes with the same name are one recorder, and its newest configuration applies. Several recorders in one database need different names.',
      ),
    observer: name.optional().meta({
      description:
        'Name of this recorder in the health ledger, unique among the recorders that probe the same nodes.',
      absent: 'the value of `name`',
    }),
    upstreams: z
      .strictObject({
        chainData: metered.optional().meta({ description: 'The chain data service.', absent: 'no requests' }),
        metrics: metered.optional().meta({ description: 'The metrics service.', absent: 'no requests' }),
        nodes: list(
          z.strictObject({
            name: name.describe('Name of the node in the record, unique.'),
            ...service,
            nodeId: nodeId.optional().meta({
              description: 'Node id of the node with this name. Set it when the name moves to another node.',
              absent: 'the first node id that the node reports',
            }),
            tags,
          }),
        ).describe('Nodes that are recorded and whose health is probed.'),
      })
      .default({ nodes: [] })
      .describe(
        'The recorded services and nodes. Without any, `network: sandbox` records the bundled sandbox.',
      ),
    watch: z
      .strictObject({
        chains: list(metricsChain).describe(
          'Chains whose metrics are recorded: ids of EVM chains in quotes, or total, mainnet or testnet for sums over chains.',
        ),
        nodeIds: list(nodeId).describe(
          'Validators whose proposed blocks, pending rewards and delegations are recorded.',
        ),
        subnets: list(subnetId).describe(
          'Subnets and L1s whose validators are recorded, besides the primary network.',
        ),
        addresses: list(primaryAddress).describe(
          'Addresses of the primary network: balances, staking, pending rewards, unspent outputs. Balances are recorded on the chain of the prefix (P-avax1…, X-avax1… or C-avax1…), without a prefix on all three. Balances on the C-chain, which are the assets exported to or from it, therefore need C-avax1… or avax1….',
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
        assets: list(assetId).describe('Assets of the X-chain: descriptions and balances.'),
      })
      .prefault({})
      .describe('What is recorded. Every list can be empty.'),
    health: healthSchema.prefault({}).describe('Evaluation of the health of nodes.'),
    runs: z
      .strictObject({
        keep: duration
          .prefault('30d')
          .describe('Retention of single runs. Older ones are only counted by day (run_days).'),
        keepWritten: duration.prefault('90d').describe('Retention of single runs that wrote rows.'),
      })
      .prefault({})
      .describe('Records of runs.'),
    changes: changesSchema(names.datasets)
      .prefault({})
      .describe('The [change feed](../how-to/change-feed.md) and its receivers.'),
    retention: retentionSchema(names.shortestRetention).describe(
      'Retention of rows by dataset: [retention](../how-to/retention.md). Datasets that are not named are kept forever.',
    ),
    server: z
      .strictObject({
        publicUrl: z
          .string()
          .refine(isOrigin, 'must be an http or https URL without a path: pages are at its root')
          .transform((text) => new URL(text).origin)
          .optional()
          .meta({
            description:
              'URL under which users open the pages, such as that of a proxy. Messages of alerts link to it, and the server accepts its host name.',
            absent: 'messages have no link to a page',
            examples: ['https://recorder.example'],
          }),
        allowedHosts: list(z.hostname('must be a host name, without a port')).describe(
          'Host names (`Host`) that the server accepts, besides localhost, its own address and the host of `publicUrl`.',
        ),
        trustedProxies: list(proxyAddress).describe(
          'IP addresses or ranges of proxies that authenticate users themselves. Requests from there need no token.',
        ),
        public: list(z.enum(['status', 'badge'])).describe(
          'Pages without a token: `status`, the status page of the nodes, and `badge`, their badges.',
        ),
        status: z
          .strictObject({
            title: z
              .string()
              .trim()
              .min(1)
              .max(100)
              .default('Status of the nodes')
              .describe('Title of the page.'),
            text: z.string().trim().min(1).max(2_000).optional().meta({
              description: 'A text below the title. An empty line starts a new paragraph.',
              absent: 'none',
            }),
            logo: z.string().min(1).optional().meta({
              description:
                'A file with a logo, SVG or PNG, at most 256 kB. A relative path starts at the working directory.',
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
      .describe('Rules and channels: [alerts](../how-to/alerts.md).'),
    exports: exportsSchema(names.datasets).describe(
      'Scheduled incremental exports: [export](../how-to/export.md).',
    ),
    datasets: z
      .partialRecord(z.enum(names.datasets), override)
      .default({})
      .describe('Settings of single datasets, by name.'),
  });
}

export type Config = z.infer<ReturnType<typeof configSchema>>;
