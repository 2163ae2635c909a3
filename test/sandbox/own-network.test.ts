import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { announcementSchema, sandboxConfig } from '../../src/app/bundled-sandbox.ts';
import { NETWORK_IDS } from '../../src/config/networks.ts';
import { withSandbox } from './with-sandbox.ts';

const { sandbox, get, rpc } = withSandbox();

const PUBLIC_NAMES = /mainnet|fuji|testnet/i;
it('equals the network of the configuration that records the bundled sandbox, and of the example', () => {
  expect(sandboxConfig(announcementSchema.parse({ ...sandbox().watch, url: sandbox().url })).network).toBe(
    'sandbox',
  );
  expect(parse(readFileSync('examples/sandbox.yaml', 'utf8')).network).toBe('sandbox');
});

it('is reported by every node, with an id that no public network has', async () => {
  for (const { path } of sandbox().nodes) {
    const call = async (method: string) => (await rpc(`${path}/ext/info`, method)).body.result;
    expect(await call('info.getNetworkID')).toEqual({ networkID: String(NETWORK_IDS.sandbox) });
    expect(await call('info.getNetworkName')).toEqual({ networkName: 'sandbox' });
  }
});

it('is reported by the data service, which refuses the name of a public network', async () => {
  const [address] = sandbox().watch.addresses;
  for (const chain of ['p-chain', 'x-chain', 'c-chain']) {
    const path = (network: string) =>
      `/v1/networks/${network}/blockchains/${chain}/balances?addresses=${address}`;
    const { status, text } = await get(path('sandbox'));
    expect(status).toBe(200);
    expect(text).not.toMatch(PUBLIC_NAMES);
    for (const name of ['mainnet', 'fuji', 'testnet']) expect((await get(path(name))).status).toBe(400);
  }
});

it.each(['mainnet', 'testnet'])(
  'has no metrics of %s, which are sums over the chains of public networks',
  async (name) => {
    expect((await get(`/v2/chains/${name}/metrics/txCount?timeInterval=day`)).status).toBe(404);
    expect((await get(`/v1/avg_tps/${name}`)).status).toBe(404);
    expect((await get('/v2/chains/total/metrics/txCount?timeInterval=day')).status).toBe(200);
  },
);
