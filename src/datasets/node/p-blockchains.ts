import type { Source, SourcePage, UpstreamClient } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { flag, object, optional, text } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { OptionalMethods } from '../sources/optional-methods.ts';
import { singleResponsePage } from '../sources/single-response.ts';

const P = '/ext/bc/P';
const INFO = '/ext/info';
const LIST = 'platform.getBlockchains';
const STATUS = 'platform.getBlockchainStatus';
const BOOTSTRAPPED = 'info.isBootstrapped';
const ID = 'info.getBlockchainID';

/** Chains of the primary network. The P-chain is in no list. */
const ALIASES = ['P', 'X', 'C'];
/** Statuses of chains that the node itself runs. Only these chains have a bootstrap state. */
const RUNNING: ReadonlySet<unknown> = new Set(['Validating', 'Syncing']);

/** Blockchains whose status a node can report, with one call per blockchain. */
const source: Source = {
  name: 'p-blockchains',
  upstream: 'nodes',
  every: 6 * hour,
  weight: 0,
  calls: 10,
  targets: ({ nodes }) => nodes.map((node) => ({ node })),
  walk: blockchains,
};

async function* blockchains(client: UpstreamClient): AsyncGenerator<SourcePage> {
  const offered = new OptionalMethods(client);
  const list = await offered.rpc(P, LIST);
  // Duplicate ids are kept, so that a contradiction is recorded.
  let known: object[] = [];
  for (const one of list === undefined ? [] : getList(list, 'blockchains', 'total'))
    known.push(Object.assign({}, one));
  for (const alias of ALIASES) {
    const id = getMember(await offered.rpc(INFO, ID, { alias }), 'blockchainID');
    if (id === undefined) continue;
    if (known.every((one) => getMember(one, 'id') !== id)) known.push({ id });
    known = known.map((one) => (getMember(one, 'id') === id ? { ...one, alias } : one));
  }
  const found: object[] = [];
  for (const one of known) {
    const id = getMember(one, 'id');
    found.push(typeof id === 'string' ? await withStatus(offered, id, one) : one);
  }
  offered.requireAny([LIST, ID]);
  // Without the list, other blockchains may exist.
  yield { ...singleResponsePage({ blockchains: found }, offered.refused), whole: list !== undefined };
}

/** Returns a blockchain with its status and, if the node runs it, its bootstrap state. */
async function withStatus(offered: OptionalMethods, id: string, one: object): Promise<object> {
  const status = getMember(await offered.rpc(P, STATUS, { blockchainID: id }), 'status');
  if (!RUNNING.has(status) && getMember(one, 'alias') === undefined) return { ...one, status };
  const answer = await offered.rpc(INFO, BOOTSTRAPPED, { chain: id });
  return { ...one, status, isBootstrapped: getMember(answer, 'isBootstrapped') };
}

export const pBlockchains = defineDataset({
  name: 'p_blockchains',
  about: 'Blockchains that a node reports, with the status of each on that node.',
  operations: [LIST, STATUS, BOOTSTRAPPED, ID],
  history: 'state',
  source,
  request: ['node'],
  key: ['node', 'blockchain_id'],
  everyNode: { own: ['status', 'is_bootstrapped'] },
  items: (body) => getList(body, 'blockchains'),
  rename: { id: 'blockchain_id' },
  item: object({
    id: text(),
    name: optional(text()),
    subnetID: optional(text()),
    vmID: optional(text()),
    status: optional(text('Validating, Created, Preferred, Syncing or Unknown.')),
    alias: optional(text("P, X or C: the primary network's chains.")),
    isBootstrapped: optional(flag('Null: the node does not run the blockchain.')),
  }),
  example: {
    id: '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q5',
    name: 'C-Chain',
    subnetID: '11111111111111111111111111111111LpoYY',
    vmID: 'mgj786NP7uDwBCcq6YwThhaN8FLyybkCa4zBWTQbNgmK6k9A6',
    status: 'Validating',
    alias: 'C',
    isBootstrapped: true,
  },
});

export const { table: pBlockchainsTable } = pBlockchains;
