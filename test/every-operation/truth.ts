import type { Sandbox } from '../../sandbox/server.ts';
import { rpc } from '../sandbox/client.ts';
import { at, type Exact, exactJson, listAt } from './exact-json.ts';
import type { ExpectedIdentity, ExpectedRow } from './extraction.ts';

/** The result of a JSON-RPC method of a node. */
async function result(sandbox: Sandbox, path: string, method: string, params?: object): Promise<Exact> {
  return at(exactJson((await rpc(sandbox, path, method, params)).text), 'result');
}

/** The sandbox at a time (Unix seconds), with the watched nodes and addresses. */
interface Model {
  readonly sandbox: Sandbox;
  readonly sec: number;
  readonly nodes: readonly string[];
  /** Watched addresses, each with its chain. */
  readonly addresses: readonly string[];
}

/** Expected dataset whose rows follow from the model of the sandbox. */
interface Truth extends ExpectedIdentity {
  /** Compared columns, separated by spaces. */
  readonly columns: string;
  readonly rows: (model: Model) => readonly ExpectedRow[] | Promise<readonly ExpectedRow[]>;
}

type Owner = Sandbox['network']['accounts']['all'][number];

function ownersOn(letter: string, { sandbox, addresses }: Model): { address: string; owner: Owner }[] {
  const watched = addresses.filter((address) => address.startsWith(`${letter}-`));
  return watched.flatMap((address) =>
    sandbox.network.accounts.among([address]).map((owner) => ({ address, owner })),
  );
}

/** The outputs of the model, not of its responses. */
function xUtxos(model: Model): ExpectedRow[] {
  const { sandbox, sec, nodes } = model;
  const { holdings, utxos } = sandbox.network;
  return ownersOn('X', model).flatMap(({ address, owner }) => {
    const waiting = holdings.atomic(owner, 1, sec).flatMap(({ amount, sharedWithChainId }) => {
      const from = ['p-chain', 'c-chain'].findIndex(
        (alias) => sandbox.network.chain(alias)?.blockchainId === sharedWithChainId,
      );
      const utxo = utxos.atomic(owner, from * 2, Math.floor(sec / 86_400), amount);
      return [{ utxo, sourceChain: from === 0 ? 'P' : 'C' }];
    });
    const own = utxos.of(owner, sec).map((utxo) => ({ utxo, sourceChain: null }));
    return [...own, ...waiting].flatMap(({ utxo, sourceChain }) =>
      nodes.map((node) => ({
        node,
        address,
        utxo_id: utxo.id,
        source_chain: sourceChain,
        tx_id: utxo.txId,
        output_index: String(utxo.outputIndex),
        asset_id: utxo.asset.assetId,
        output_type: '7',
        amount: String(utxo.amount),
        locktime: '0',
        locktime_raw: '0',
        threshold: '1',
        addresses: utxo.owners.map((one) => `X-${one.address}`),
        utxo: utxo.hex,
      })),
    );
  });
}

/** The sums of the model's outputs by asset, of watched assets also without outputs. */
function xBalances(model: Model): ExpectedRow[] {
  const { sandbox, sec, nodes } = model;
  const { assets, utxos } = sandbox.network;
  return ownersOn('X', model).flatMap(({ address, owner }) =>
    assets.flatMap((asset) => {
      const unspent = utxos.of(owner, sec).filter((utxo) => utxo.asset === asset);
      return nodes.map((node) => ({
        node,
        address,
        asset_id: asset.assetId,
        asset: unspent.length === 0 ? null : asset === assets[0] ? 'AVAX' : asset.assetId,
        balance: String(unspent.reduce((sum, utxo) => sum + utxo.amount, 0n)),
        utxo_ids: unspent
          .map(({ txId, outputIndex }) => ({ outputIndex: String(outputIndex), txID: txId }))
          .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
      }));
    }),
  );
}

function pBalances(model: Model): ExpectedRow[] {
  const { sandbox, sec, nodes } = model;
  const { assets, holdings } = sandbox.network;
  const sum = (some: readonly { readonly amount: bigint }[]) =>
    some.reduce((all, one) => all + one.amount, 0n);
  return ownersOn('P', model).flatMap(({ address, owner }) => {
    const [unlocked, locked] = [holdings.unlocked(owner, sec), holdings.lockedStakeable(owner, sec)];
    return nodes.map((node) => ({
      node,
      address,
      asset_id: assets[0].assetId,
      balance: String(sum(unlocked) + sum(locked)),
      unlocked: String(sum(unlocked)),
      locked_stakeable: locked.length === 0 ? null : String(sum(locked)),
      locked_not_stakeable: null,
    }));
  });
}

/** Requests each blockchain that a node lists or has an alias for. */
async function pBlockchains({ sandbox, nodes }: Model): Promise<ExpectedRow[]> {
  const rows: ExpectedRow[] = [];
  for (const node of nodes) {
    const request = (api: string, method: string, params?: object) =>
      result(sandbox, `/nodes/${node}/ext/${api}`, method, params);
    const aliases = new Map<Exact, string>();
    for (const alias of ['P', 'X', 'C'])
      aliases.set(at(await request('info', 'info.getBlockchainID', { alias }), 'blockchainID'), alias);
    const listed = listAt(await request('bc/P', 'platform.getBlockchains'), 'blockchains');
    const unlisted = [...aliases.keys()].filter((id) => !listed.some((one) => at(one, 'id') === id));
    for (const one of [...listed, ...unlisted.map((id) => ({ id }))]) {
      const id = at(one, 'id');
      const status = at(
        await request('bc/P', 'platform.getBlockchainStatus', { blockchainID: id }),
        'status',
      );
      const runs = aliases.has(id) || status === 'Validating' || status === 'Syncing';
      rows.push({
        node,
        blockchain_id: id,
        name: at(one, 'name'),
        subnet_id: at(one, 'subnetID'),
        vm_id: at(one, 'vmID'),
        status,
        alias: aliases.get(id) ?? null,
        is_bootstrapped: runs
          ? at(await request('info', 'info.isBootstrapped', { chain: id }), 'isBootstrapped')
          : null,
      });
    }
  }
  return rows;
}

/** Expected datasets whose responses do not contain the requested address or blockchain. */
export const truthByDataset: Readonly<Record<string, Truth>> = {
  x_utxos: {
    history: 'state',
    key: 'node address utxo_id',
    columns: `node address utxo_id source_chain tx_id output_index asset_id output_type amount locktime locktime_raw
      threshold addresses utxo`,
    rows: xUtxos,
  },
  x_balances: {
    history: 'state',
    key: 'node address asset_id',
    unstated: 'address assets',
    columns: 'node address asset_id asset balance utxo_ids',
    rows: xBalances,
  },
  p_balances: {
    history: 'state',
    key: 'node address asset_id',
    unstated: 'address',
    columns: 'node address asset_id balance unlocked locked_stakeable locked_not_stakeable',
    rows: pBalances,
  },
  p_blockchains: {
    history: 'state',
    key: 'node blockchain_id',
    columns: 'node blockchain_id name subnet_id vm_id status alias is_bootstrapped',
    rows: pBlockchains,
  },
};

/** Datasets that are recorded on demand only; `recording.test.ts` compares their rows. */
export const onDemand: Readonly<Record<string, ExpectedIdentity>> = {
  // Either tx_hash or the digest of the request is in one column.
  aggregated_signatures: { history: 'log', key: 'network request' },
};
