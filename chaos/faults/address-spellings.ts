import { Steady } from '../steady.ts';
import type { Fault } from './fault.ts';

const addressSpellings: Fault = {
  numbers: [67],
  title: 'one address watched in two spellings, requested in a third',
  backends: 'each',
  invariants: ['B', 'E', 'X'],
  async inject(world) {
    const { evidence, sandbox, sql } = world;
    const [watched] = sandbox.watch.evmAddresses;
    if (!watched) throw new Error('the sandbox has no EVM address');
    const { chain, address } = watched;
    const lower = address.toLowerCase();
    const upper = `0x${address.slice(2).toUpperCase()}`;
    const evmAddresses = [address, lower].map((one) => ({ chain, address: one }));
    const datasets = {
      proposed_blocks: { enabled: false },
      native_transactions: { every: '5s' },
      native_balances: { every: '5s' },
    };
    const steady = await Steady.start(world, { watch: 0, evmAddresses, datasets });
    await steady.waitUntilRecorded();
    evidence.serve('spellings', new Set([address, lower, upper]).size);
    await steady.expectRecovery('two spellings were watched');
    await steady.stop();
    const startedAt = performance.now();
    const record = world.recorder(['record', 'native_transactions', '--target', `address=${upper}`]);
    const ending = { ...(await record.ended), elapsedMs: performance.now() - startedAt };
    evidence.exit('record with a third spelling', ending, [0], 60_000);
    for (const dataset of Object.keys(datasets).slice(1)) {
      const targets = await sql<{ target: string }[]>`
        select target from reporting.freshness where dataset = ${dataset}`;
      evidence.claim(
        `${dataset} has one target: ${targets.map(({ target }) => target).join(' and ')}`,
        targets.length === 1 && targets[0]?.target.includes(lower) === true,
      );
    }
    const [rows] = await sql<{ all: number; joined: number }[]>`
      select count(*)::int as all,
        (count(*) filter (where from_address = address or to_address = address))::int as joined
      from reporting.native_transactions where address = ${lower}`;
    evidence.figures.set('transactions, joined by address', `${rows?.all}, ${rows?.joined}`);
    evidence.claim('the address joins every transaction', (rows?.all ?? 0) > 0 && rows?.joined === rows?.all);
    const [all] = await sql<{ other: number }[]>`
      select count(*)::int as other from reporting.native_transactions where address <> ${lower}`;
    evidence.claim('there is no transaction under another spelling', all?.other === 0);
  },
};

export const spellingFaults: readonly Fault[] = [addressSpellings];
