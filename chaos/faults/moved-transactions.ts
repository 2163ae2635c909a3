import { MovingUpstream, type TransactionVersion } from '../servers/moving-upstream.ts';
import { Steady } from '../steady.ts';
import { eventually } from '../until.ts';
import type { Fault } from './fault.ts';

const TRANSACTIONS = 60;

/** Transactions that move repeatedly, while one of two processes is killed. */
const movedTransactions: Fault = {
  numbers: [74],
  title: 'transactions that move to another block or change their status after they were recorded',
  backends: 'each',
  invariants: ['B', 'E'],
  async inject(world) {
    const { evidence, random, sandbox, setting, sql } = world;
    const upstream = await MovingUpstream.open(sandbox.url, random, TRANSACTIONS);
    world.closers.add(() => upstream.close());
    const [watched] = sandbox.watch.evmAddresses;
    if (!watched) throw new Error('the sandbox has no EVM address');
    const steady = await Steady.start(world, {
      watch: 0,
      evmAddresses: [watched],
      chainData: { url: upstream.url, apiKeyHeader: 'x-api-key' },
      datasets: { proposed_blocks: { enabled: false }, native_transactions: { every: '5s' } },
      processes: 2,
    });
    const readStored = async () =>
      textOf(
        await sql<TransactionVersion[]>`
          select tx_hash as hash, block_number::int as block, tx_status as status from reporting.native_transactions`,
      );
    const waitForCurrent = () =>
      eventually(
        'the current versions to be stored',
        async () => (await readStored()) === textOf(upstream.now),
        60_000,
      );
    await waitForCurrent();
    const moves = setting.options.kills ?? (setting.options.short ? 3 : 6);
    for (let move = 0; move < moves; move++) {
      evidence.serve('moved', upstream.move());
      if (move % 2 === 1) {
        await steady.running.shift()?.kill();
        evidence.serve('kill -9');
        steady.launch();
      }
      const isCurrent = await waitForCurrent().then(
        () => true,
        () => false,
      );
      evidence.claim(`move ${move + 1}: the newer version is stored`, isCurrent);
      if (!isCurrent) break;
    }
    await steady.expectRecovery('the last move');
    await steady.stop();
    const earlier = await sql<TransactionVersion[]>`
      select tx_hash as hash, block_number::int as block, tx_status as status
      from reporting.native_transactions_history where valid_to is not null`;
    evidence.claim(
      'every earlier version is found, and nothing else',
      textOf(earlier) === textOf(upstream.before),
    );
    const [lines] = await sql<{ broken: number; conflicts: number }[]>`
      select count(*) filter (where valid_to <> next)::int as broken, count(*)::int as conflicts from (
        select valid_to, lead(valid_from) over (partition by tx_hash order by valid_from) as next
        from reporting.native_transactions_history) versions
      where valid_to is not null`;
    evidence.claim('each version is valid until the next one', lines?.broken === 0);
    evidence.figures.set('conflicting versions', lines?.conflicts ?? 0);
  },
};

/** Versions as one text, in any order. */
const textOf = (versions: readonly TransactionVersion[]) =>
  versions
    .map(({ hash, block, status }) => `${hash} ${block} ${status}`)
    .sort()
    .join('\n');

export const movedTransactionFaults: readonly Fault[] = [movedTransactions];
