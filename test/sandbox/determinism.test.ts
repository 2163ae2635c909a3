import { expect, it } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { get, rpc, stillSandbox } from './client.ts';

async function readEverything(sandbox: Sandbox): Promise<string> {
  const { watch } = sandbox;
  const [address, exchange] = watch.addresses;
  const [evm] = watch.evmAddresses;
  const primary = '/v1/networks/sandbox/blockchains';
  const chain = '/v1/chains/43114';
  const paths = [
    '/v2/chains/43114/metrics/feesPaid?timeInterval=day',
    '/v1/avg_tps/43113',
    `${primary}/c-chain/nodes/${watch.nodeIds[3]}/blocks`,
    `${primary}/p-chain/transactions:listStaking?addresses=${address}`,
    `${primary}/x-chain/balances?addresses=${exchange}`,
    '/v1/networks/sandbox-2/subnets',
    `/v1/networks/sandbox/rewards:listPending?nodeIds=${watch.nodeIds[0]}`,
    `${chain}/addresses/${evm?.address}/transactions:listNative`,
    `${chain}/addresses/${evm?.address}/balances:listErc1155`,
    `${chain}/contracts/${evm?.address}/deployments`,
    `${chain}/transactions/${watch.transactions[0]?.hash}`,
    `${chain}/nfts/collections/${watch.collections[0]?.address}/tokens`,
    '/ext/health',
    '/v1/nothing',
  ];
  const texts: string[] = [];
  for (const path of paths) texts.push((await get(sandbox, path)).text);
  for (const method of ['info.peers', 'info.acps'])
    texts.push((await rpc(sandbox, '/ext/info', method)).text);
  texts.push((await rpc(sandbox, '/ext/bc/P', 'platform.getCurrentValidators')).text);
  texts.push((await rpc(sandbox, '/ext/bc/X', 'avm.getUTXOs', { addresses: [exchange] })).text);
  return `${JSON.stringify(watch)}\n${texts.join('\n')}`;
}

it('returns the same bytes for the same seed and time, whatever was requested before', async () => {
  const texts: string[] = [];
  for (const [seed, hours] of [
    [7, 0],
    [7, 5],
    [8, 0],
  ] as const) {
    const { sandbox, clock } = await stillSandbox({ seed, incidents: true });
    clock.advance(hours * 3_600_000);
    await get(sandbox, '/v2/chains/total/metrics/cumulativeTxCount?timeInterval=day');
    clock.advance(-hours * 3_600_000);
    texts.push(await readEverything(sandbox));
    await sandbox.close();
  }
  expect(texts[1]).toBe(texts[0]);
  expect(texts[2]).not.toBe(texts[0]);
});
