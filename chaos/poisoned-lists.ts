import { storableText } from '../src/datasets/storable-text.ts';
import type { Random } from './random.ts';
import { COLLECTION, type Member, PoisonedUpstream } from './servers/poisoned-upstream.ts';
import { Steady, type SteadyPlan } from './steady.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

/** Three pages of tokens, and a list of validators. */
export const TOKENS = 250;
export const VALIDATORS = 40;

/** Fields of a member, each its JSON. */
type Fields = Readonly<Record<string, string>>;

const jsonOf = (fields: Fields) =>
  `{${Object.entries(fields)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`;

/** A token with some unusual fields. @param key as it is stored; null: it cannot be decoded */
export function token(
  id: string,
  more: Fields = {},
  mark: string | null = null,
  key: string | null = id,
): Member {
  const fields = {
    tokenId: JSON.stringify(id),
    ercType: '"ERC-721"',
    name: JSON.stringify(`token ${id}`),
    ...more,
  };
  return { json: jsonOf(mark === null ? fields : { ...fields, mark: JSON.stringify(mark) }), key, mark };
}

/** A validator with some unusual fields. */
export function validator(id: string, more: Fields = {}, mark: string | null = null): Member {
  const fields = { nodeID: JSON.stringify(id), startTime: '"1763000000"', weight: '"2000"', ...more };
  const json = jsonOf(mark === null ? fields : { ...fields, mark: JSON.stringify(mark) });
  return { json, key: storableText(id), mark };
}

/** The members in an order derived from the seed; those that must be on one page stay together. */
function shuffle(random: Random, members: readonly Member[], together: readonly Member[]): Member[] {
  const all = [...members];
  for (let at = all.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    const [one, two] = [all[at], all[other]];
    if (one && two) [all[at], all[other]] = [two, one];
  }
  all.splice(random.below(50), 0, ...together);
  return all;
}

/** Other members of a response. */
export interface SentLists {
  readonly tokens?: readonly Member[];
  readonly validators?: readonly Member[];
  /** Some keys come with two values. */
  readonly contradicts?: boolean;
}

/** A recorder that runs on lists with poisoned items. */
export class PoisonedRecorder {
  readonly upstream: PoisonedUpstream;
  readonly #world: World;
  #steady: Steady | null = null;

  private constructor(world: World, upstream: PoisonedUpstream) {
    this.#world = world;
    this.upstream = upstream;
    world.poisoned = upstream;
  }

  /** Opens the upstream, with its initial lists. */
  static async open(world: World, sent: SentLists): Promise<PoisonedRecorder> {
    const upstream = await PoisonedUpstream.open(world.sandbox.url);
    world.closers.add(() => upstream.close());
    const poisoned = new PoisonedRecorder(world, upstream);
    poisoned.send(sent);
    return poisoned;
  }

  /** Serves these from now on, and this many ordinary ones. */
  send(
    { tokens = [], validators = [], contradicts = false }: SentLists,
    counts = { tokens: TOKENS, validators: VALIDATORS },
  ): void {
    const { random } = this.#world;
    for (const list of this.upstream.lists) list.contradicts = contradicts;
    const makeMembers = <T>(count: number, make: (number: number) => T) =>
      Array.from({ length: count }, (_, at) => make(at));
    this.upstream.tokens.members = shuffle(
      random,
      makeMembers(counts.tokens, (at) => token(String(1000 + at))),
      tokens,
    );
    this.upstream.validators.members = shuffle(
      random,
      makeMembers(counts.validators, (at) => validator(`NodeID-${at}`)),
      validators,
    );
  }

  /** Starts `up`, which polls both lists every 5 s. */
  async start(plan: SteadyPlan = {}): Promise<Steady> {
    const { url } = this.upstream;
    this.#steady = await Steady.start(this.#world, {
      watch: 0,
      nodes: [{ name: 'validator-1', url: `${url}/nodes/validator-1` }],
      chainData: { url },
      collections: [COLLECTION],
      ...plan,
      datasets: {
        ...(plan.watch === undefined ? { proposed_blocks: { enabled: false } } : {}),
        nft_tokens: { every: '5s' },
        validators: { every: '5s' },
      },
    });
    return this.#steady;
  }

  /** Waits until both lists have been recorded this many times from now on. */
  async waitForRecordings(times: number): Promise<void> {
    const { sql } = this.#world;
    const startedAt = new Date();
    for (const { dataset } of this.upstream.lists)
      await until(`${dataset} to be recorded ${times} times`, async () => {
        const [row] = await sql<{ runs: number }[]>`
          select count(*)::int as runs from reporting.runs
          where dataset = ${dataset} and status in ('done', 'partial') and started_at > ${startedAt}`;
        return (row?.runs ?? 0) >= times;
      });
  }

  /** Checks all places that must report an incomplete list. */
  async expectReported(): Promise<void> {
    const { evidence } = this.#world;
    for (const command of ['status', 'doctor']) {
      const { code } = await this.#world.recorder([command, '--json']).ended;
      evidence.indicators.push({ where: `${command} exits ${code}, not 1`, isVisible: code === 1 });
    }
    const [running] = this.#steady?.running ?? [];
    const metrics = running ? await (await fetch(`${running.address}/metrics`)).text() : '';
    evidence.indicators.push({
      where: 'a metric of incomplete targets',
      isVisible: /^chain_recorder_incomplete_targets\S* [1-9]/m.test(metrics),
    });
  }

  /** Ends the recorder. */
  async stop(): Promise<void> {
    for (const { poisons } of this.upstream.lists)
      for (const [mark, times] of poisons) this.#world.evidence.serve(mark, times);
    await this.#steady?.stop();
  }
}
