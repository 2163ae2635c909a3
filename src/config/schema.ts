import { z } from 'zod';
import { duration } from './duration-schema.ts';
import { healthSchema } from './health-schema.ts';
import { assetId, evmChain, metricsChain, nodeId, primaryAddress, subnetId } from './ids.ts';

const serviceUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be an http or https URL',
  )
  .refine((text) => {
    const { username, password, search } = URL.canParse(text) ? new URL(text) : new URL('http://-');
    return username + password + search === '';
  }, 'must carry no credentials and no query: secrets come from the environment');

const budget = z
  .strictObject({
    perMinute: z.int().positive().optional().describe('Budget units a minute.'),
    perDay: z.int().positive().optional().describe('Budget units a day (UTC).'),
  })
  .describe(
    'What the upstream allows a key, in its own units; absent: only its 429 answers slow the recorder down.',
  );

const service = {
  url: serviceUrl,
  timeout: duration.optional().describe('The longest that one call may take; 30s unless said otherwise.'),
};

const metered = z.strictObject({
  ...service,
  apiKeyHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be a header name')
    .optional()
    .describe('The header that carries the key from CHAIN_DATA_API_KEY or METRICS_API_KEY.'),
  budget: budget.optional(),
});

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be letters, digits, dots, dashes or underscores');
/** Letter case does not matter: an address in any case is the same target. */
const evmAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')
  .toLowerCase();
const addressOnChain = z.strictObject({ chain: evmChain, address: evmAddress });
const list = <T extends z.ZodType>(element: T) =>
  z
    .array(element)
    .nullish()
    .transform((value) => value ?? []);
const tags = list(z.string().regex(/^[A-Za-z0-9]+$/, 'must be a tag, such as a subnet id')).describe(
  'Health tags, such as subnet ids: each is probed for itself beside the whole node.',
);

/** What the configuration must know of the catalog to check names; the catalog itself lies above it. */
export interface CatalogNames {
  readonly datasets: readonly string[];
  readonly metrics: readonly string[];
  readonly intervals: readonly string[];
  /** Why a setting of a dataset's override would change nothing; null: it would, or there is no such dataset or setting. */
  withoutEffect(dataset: string, setting: string): string | null;
}

/** The schema of `recorder.yaml` (contract section 2). */
export function configSchema(names: CatalogNames) {
  const override = z.strictObject({
    enabled: z.boolean().optional(),
    every: duration.optional().describe('How often it is recorded.'),
    believe: z
      .strictObject({
        looks: z
          .int()
          .min(1)
          .max(100)
          .optional()
          .describe(
            'So many looks in a row must miss a member; 2 unless said otherwise, 1: always believed.',
          ),
        after: duration
          .optional()
          .describe('So much time after the first of them; none unless said otherwise.'),
      })
      .optional()
      .describe('When a list is believed that is suddenly empty, or lost more than half of its members.'),
    since: z.iso
      .date('must be a date such as 2025-01-31')
      .optional()
      .describe('Where the recording is expected to begin.'),
    pageSize: z.int().positive().optional().describe('Fewer items a page than the service would give.'),
    metrics: z.array(z.enum(names.metrics)).nonempty().optional(),
    intervals: z.array(z.enum(names.intervals)).nonempty().optional(),
  });
  return z.strictObject({
    network: z.enum(['mainnet', 'fuji', 'testnet']),
    name: name
      .default('recorder')
      .describe(
        "This recorder's name. Processes of one name are one recorder, of which the newest configuration decides; those that are meant to be apart in one database have names of their own.",
      ),
    observer: name
      .optional()
      .describe(
        "This recorder's name in the health ledger, unique among those that watch the same nodes; its name, unless said otherwise.",
      ),
    upstreams: z
      .strictObject({
        chainData: metered.optional(),
        metrics: metered.optional(),
        nodes: list(z.strictObject({ name, ...service, tags })).superRefine((nodes, context) => {
          nodes.forEach((node, at) => {
            if (nodes.findIndex((other) => other.name === node.name) < at)
              context.addIssue({
                code: 'custom',
                path: [at, 'name'],
                message: `"${node.name}" is taken: names are unique`,
              });
          });
        }),
      })
      .default({ nodes: [] }),
    watch: z
      .strictObject({
        chains: list(metricsChain),
        nodeIds: list(nodeId),
        subnets: list(subnetId).describe(
          'Subnets and L1s whose validators the nodes are asked for, beside the primary network.',
        ),
        addresses: list(primaryAddress),
        evmAddresses: list(addressOnChain),
        contracts: list(addressOnChain),
        collections: list(addressOnChain),
        transactions: list(
          z.strictObject({
            chain: evmChain,
            hash: z
              .string()
              .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 0x and 64 hexadecimal digits')
              .toLowerCase(),
          }),
        ),
        assets: list(assetId),
      })
      .prefault({}),
    health: healthSchema.prefault({}),
    runs: z
      .strictObject({
        keep: duration
          .prefault('7d')
          .describe('How long runs that wrote nothing are kept; then their days are counted up (run_days).'),
      })
      .prefault({}),
    server: z
      .strictObject({
        names: list(z.hostname('must be a host name, without a port')).describe(
          'Host names under which the server is reached, beside localhost and its own address.',
        ),
      })
      .prefault({}),
    datasets: z.partialRecord(z.enum(names.datasets), override).default({}),
  });
}

export type Config = z.infer<ReturnType<typeof configSchema>>;
