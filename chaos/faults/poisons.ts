import { originalText } from '../../src/datasets/storable-text.ts';
import { PoisonedRecorder, type SentLists, TOKENS, token, VALIDATORS, validator } from '../poisoned-lists.ts';
import type { Random } from '../random.ts';
import { midnight } from '../settings.ts';
import { trueBlocks } from '../truth.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

/** Records lists with these items a few times, and checks that they are reported. */
async function recordPoisoned(world: World, sent: SentLists): Promise<void> {
  const poisoned = await PoisonedRecorder.open(world, sent);
  await poisoned.start();
  await poisoned.waitForRecordings(3);
  await poisoned.expectReported();
  await poisoned.stop();
}

const numbers: Fault = {
  numbers: [53],
  title: 'numbers that PostgreSQL refuses, in known fields and in unknown ones',
  backends: 'each',
  invariants: ['C', 'F', 'L'],
  inject: (world) =>
    recordPoisoned(world, {
      tokens: [
        token('1', { note: '1e200000' }, 'a large unknown number'),
        token('2', { note: '{"deep":[1e-20000]}' }, 'a small unknown number'),
        token('3', { metadata: '{"decimals":1e200000}' }, 'a large known number'),
        token('4', { note: '123456789012345678901234567890.5' }),
      ],
      validators: [
        validator('large', { weight: '1e200000' }, 'a large weight'),
        validator('small', { delegationFee: '1e-20000' }, 'a small fee'),
        validator('deep', { note: '[[-1e200000]]' }, 'a deep large number'),
      ],
    }),
};

const equalKeys: Fault = {
  numbers: [54],
  title: 'keys that are equal to PostgreSQL and not to JavaScript on one page',
  backends: 'each',
  invariants: ['B', 'C', 'F', 'L'],
  async inject(world) {
    await recordPoisoned(world, {
      contradicts: true,
      tokens: [
        token('1'),
        token('01', {}, 'another one of the same number', '1'),
        token('1.0', {}, 'a number that is no id', null),
        // The same twice is one.
        token('7', { name: '"seven"' }),
        token('007', { name: '"seven"' }, null, '7'),
      ],
      validators: [
        validator('same'),
        validator('same', { startTime: '1763000000.0', weight: '2001' }, 'another one of the same time'),
        validator('equal', { weight: '"1"' }),
        validator('equal', { startTime: '"01763000000"', weight: '"01"' }),
      ],
    });
    const [row] = await world.sql<
      { name: string }[]
    >`select name from recorder.nft_tokens where token_id = 1`;
    world.evidence.claim(`the first of two counts: ${row?.name}`, row?.name === 'token 1');
  },
};

/** A number of characters that does not compress. */
const unpackable = (random: Random, length: number) =>
  Array.from({ length }, () => String.fromCharCode(0x4e00 + random.below(0x5000))).join('');

const wideKeys: Fault = {
  numbers: [55],
  title: 'keys of short parts that together do not fit an index',
  backends: 'each',
  invariants: ['C', 'F', 'L'],
  async inject(world) {
    const part = () => unpackable(world.random, 480);
    const wide = (mark: string | null, parts = { txID: part(), validationID: part() }) =>
      validator(
        part(),
        { txID: JSON.stringify(parts.txID), validationID: JSON.stringify(parts.validationID) },
        mark,
      );
    await recordPoisoned(world, {
      tokens: [token('1', { ercType: '17' }, 'a type that is a number')],
      validators: [
        wide('a wide key'),
        wide('another wide key'),
        // It compresses, so that it fits.
        wide(null, { txID: 'x'.repeat(480), validationID: 'y'.repeat(480) }),
      ],
    });
  },
};

/** Texts that PostgreSQL refuses, and texts that only look like them. */
const TEXTS = ['a\u0000b', '\ud83d', '\\u0000', 'a\\\u0000\udc00\\', '\u0000\u0000'];

const characters: Fault = {
  numbers: [56],
  title: 'NUL and half surrogates in keys, names, symbols, descriptions and unknown fields',
  backends: 'each',
  invariants: ['C', 'F', 'L'],
  async inject(world) {
    const { sql, evidence } = world;
    const tokens = TEXTS.map((text, at) => {
      const json = JSON.stringify(text);
      return token(String(at + 1), {
        name: json,
        symbol: json,
        metadata: `{"description":${json}}`,
        [text]: json,
      });
    });
    await recordPoisoned(world, {
      tokens: [...tokens, token('9\u0000', {}, 'an id with a NUL', null)],
      validators: [
        ...TEXTS.map((text) => validator(text)),
        validator('x', { weight: '"\\u0000"' }, 'a weight of NUL'),
      ],
    });
    const rows = await sql<{ name: string; symbol: string; description: string; extra: object }[]>`
      select name, symbol, metadata_description as description, extra from recorder.nft_tokens
      where valid_to is null and token_id <= ${TEXTS.length} order by token_id`;
    const read = rows.map(({ name, symbol, description, extra }) =>
      [name, symbol, description, ...Object.entries(extra).flat()].map((text) => originalText(String(text))),
    );
    evidence.claim(
      `every text can be read back: ${JSON.stringify(read)}`,
      read.length === TEXTS.length && read.every((texts, at) => texts.every((text) => text === TEXTS[at])),
    );
  },
};

/** Lets the database refuse rows of a table, like a constraint. */
async function refuse({ sql }: World, table: string, when: string, code: string): Promise<void> {
  await sql.unsafe(`
    create or replace function public.refuse() returns trigger language plpgsql as $$
      begin raise exception 'no such value' using errcode = tg_argv[0]; end $$;
    create trigger refuse before insert on recorder.${table} for each row when (${when})
      execute function public.refuse('${code}')`);
}

const anyRefusal: Fault = {
  numbers: [57],
  title: 'the database refuses one value of a commit, for any reason',
  backends: 'each',
  invariants: ['A', 'C', 'F', 'L'],
  sandbox: { blocksPerHour: 30 },
  async inject(world) {
    const { sql, evidence, sandbox } = world;
    const [nodeId = ''] = sandbox.network.validators.nodes.map((node) => node.nodeId);
    const day = { nodeId, blockchainId: 'c-chain', from: midnight(1), to: midnight(0) };
    const [hash = ''] = trueBlocks(sandbox, day);
    await refuse(world, 'nft_tokens', 'new.token_id in (1, 2)', '22023');
    await refuse(world, 'validators', "new.node_id = 'refused'", '23514');
    await refuse(world, 'proposed_blocks', `new.block_hash = '${hash}'`, '54000');
    const poisoned = await PoisonedRecorder.open(world, {
      tokens: [token('1', {}, 'a token that is refused'), token('2', {}, 'another token that is refused')],
      validators: [validator('refused', {}, 'a validator that is refused')],
    });
    const steady = await poisoned.start({ watch: 1, days: 1 });
    await steady.waitUntilCovered();
    await poisoned.waitForRecordings(3);
    await poisoned.expectReported();
    await poisoned.stop();
    const rows = await sql<{ item: string }[]>`
      select item from reporting.quarantine where dataset = 'proposed_blocks'`;
    evidence.claim(
      `of all blocks only ${hash} is in the quarantine`,
      hash !== '' && rows.length === 1 && rows[0]?.item.includes(hash) === true,
    );
  },
};

const undecodable: Fault = {
  numbers: [59],
  title: 'an item that cannot be decoded any more, in a list whose other members leave',
  backends: 'each',
  invariants: ['C', 'F', 'L'],
  async inject(world) {
    const poisoned = await PoisonedRecorder.open(world, {
      tokens: [token('1')],
      validators: [validator('stays')],
    });
    await poisoned.start();
    await poisoned.waitForRecordings(2);
    poisoned.send(
      {
        tokens: [token('1', { ercType: '17' }, 'a type that is a number')],
        validators: [validator('stays', { weight: '"none"' }, 'a weight that is none')],
      },
      { tokens: TOKENS - 100, validators: VALIDATORS - 10 },
    );
    await poisoned.waitForRecordings(3);
    await poisoned.expectReported();
    await poisoned.stop();
  },
};

/** JSON with this nesting depth. */
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

const oddJson: Fault = {
  numbers: [80],
  title: 'repeated keys, and one extremely nested item',
  backends: 'each',
  invariants: ['C', 'F', 'L'],
  async inject(world) {
    const { sql, evidence } = world;
    // The page of tokens is parsed by the exact parser, the list of validators by the fast one.
    await recordPoisoned(world, {
      tokens: [
        token('1', { note: nested(200_000) }, 'a deep token'),
        token('2', { name: '"first","name":"last"', note: '123456789012345678901234567890' }),
        token('4', { tokenId: '"3","tokenId":"4"' }),
      ],
      validators: [
        validator('deep', { note: nested(30_000) }, 'a deep validator'),
        validator('twice', { weight: '"1","weight":"2"' }),
      ],
    });
    const [row] = await sql<{ name: string; weight: string }[]>`
      select t.name, v.weight::text from recorder.nft_tokens t, recorder.validators v
      where t.token_id = 2 and v.node_id = 'twice'`;
    evidence.claim(
      `the last of two counts, to both parsers: ${row?.name}, ${row?.weight}`,
      row?.name === 'last' && row.weight === '2',
    );
  },
};

export const poisonFaults: readonly Fault[] = [
  numbers,
  equalKeys,
  wideKeys,
  characters,
  anyRefusal,
  undecodable,
  oddJson,
];
