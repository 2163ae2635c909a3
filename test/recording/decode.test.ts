import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import { nftTokens } from '../../src/datasets/chain-data/nft-tokens.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { validatorUptime } from '../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { buildDecoder, CONTRADICTION_REASON } from '../../src/recording/decode.ts';
import { SeenRows } from '../../src/recording/seen-rows.ts';
import { parseJson } from '../../src/upstreams/json.ts';
import { block, blocksTarget } from '../support/blocks.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();

const clock = new ManualClock(Date.UTC(2026, 0, 10));

/** Records the JSON text of a list of blocks, and returns the result of each. */
async function recordItems(items: string) {
  const target = blocksTarget();
  const feed = scriptedFeed(proposedBlocks, target);
  feed.script = () => onlyPage(parseJson(`{"blocks":${items}}`));
  const result = await run(recordingContext(sql, clock.read), feed);
  const rows = await sql<
    { block_hash: string; supply: string | null; extra: unknown; proposer: string | null }[]
  >`
    select block_hash, current_supply::text as supply, extra::text, proposer_node_id as proposer
    from recorder.proposed_blocks where blockchain_id = ${target.blockchainId ?? ''} order by block_number`;
  const quarantine = await sql<{ reason: string; item: string }[]>`
    select reason, item from reporting.quarantine where run_id = ${result.runId} order by id`;
  return { result, rows: [...rows], quarantine: [...quarantine] };
}

const text = (item: unknown) => JSON.stringify(item);
const list = (...items: string[]) => `[${items.join(',')}]`;
const validItem = (number: number) => text(block(number, 1_700_000_000));

describe('an item that cannot be decoded', () => {
  it.each([
    ['a field that is missing', text({ ...block(2, 1), blockHash: undefined }), 'blockHash'],
    ['a text of a megabyte', text({ ...block(2, 1), blockType: 'x'.repeat(1 << 20) }), 'blockType'],
    [
      'a key that is too long for an index',
      text({ ...block(2, 1), blockHash: randomBytes(4_000).toString('hex') }),
      'block_hash',
    ],
    [
      'a bad field in a nested object',
      text({ ...block(2, 1), proposerDetails: { proposerTimestamp: 'x' } }),
      'proposerTimestamp',
    ],
    ['null', 'null', 'item'],
  ])('for %s is quarantined alone, with the reason', async (_, item, reason) => {
    const { result, rows, quarantine } = await recordItems(list(validItem(1), item, validItem(3)));
    expect(result).toMatchObject({ status: 'partial', items: 3, rowsWritten: [2], quarantined: 1 });
    expect(rows.map(({ block_hash }) => block_hash)).toEqual(['hash-1', 'hash-3']);
    expect(quarantine).toEqual([{ reason: expect.stringContaining(reason), item: expect.any(String) }]);
  });

  it('is stored unchanged, numbers exact', async () => {
    const item = '{"blockHash":"h","weight":12345678901234567890123,"share":0.1000000000000000000001}';
    const { quarantine } = await recordItems(list(item));
    expect(quarantine[0]?.item).toBe(item);
  });

  it('is truncated if it is extremely long', async () => {
    const { quarantine } = await recordItems(list(text({ blockType: 'x'.repeat(1_000_000) })));
    expect(quarantine[0]?.item.length).toBeLessThan(100_000);
  });

  it('fails its run and nothing else if it is extremely nested', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const target = blocksTarget();
    const feed = scriptedFeed(proposedBlocks, target);
    for (const field of ['future', 'transactions', 'blockHash']) {
      feed.script = () =>
        onlyPage(JSON.parse(`{"blocks":[${validItem(1).replace(/}$/, `,"${field}":${deep}}`)}]}`));
      const result = await run(recordingContext(sql, clock.read), feed);
      expect(result.status === 'failed' || result.quarantined === 1, field).toBe(true);
    }
    feed.script = () => onlyPage({ blocks: [block(1, 1)] });
    expect(await run(recordingContext(sql, clock.read), feed)).toMatchObject({ status: 'done' });
  });

  it('reports a bounded number of its errors', async () => {
    const { quarantine } = await recordItems('[{}]');
    expect(quarantine[0]?.reason.split('; ')).toHaveLength(5);
  });
});

describe('an item that can be decoded', () => {
  it('keeps unknown fields in extra, unchanged, with names that would be dangerous', async () => {
    const item = text({
      ...block(1, 1),
      future: { a: [1] },
      proposerDetails: { proposerNodeId: 'NodeID-1', later: 'x' },
    });
    const withDangerousNames = item.replace(
      '{"blockNumber"',
      '{"__proto__":{"polluted":true},"constructor":1,"blockNumber"',
    );
    const { rows } = await recordItems(list(withDangerousNames));
    expect(rows[0]?.proposer).toBe('NodeID-1');
    expect(JSON.parse(String(rows[0]?.extra))).toEqual(
      JSON.parse(
        '{"__proto__":{"polluted":true},"constructor":1,"future":{"a":[1]},"proposerDetails":{"later":"x"}}',
      ),
    );
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  it('inherits nothing from a prototype that the upstream sent', async () => {
    const withoutHash = text({ ...block(1, 1), blockHash: undefined });
    for (const big of ['', ',"big":12345678901234567890']) {
      const withPrototype = withoutHash.replace(
        '{"blockNumber"',
        '{"__proto__":{"blockHash":"stolen"},"blockNumber"',
      );
      const { rows, quarantine } = await recordItems(list(withPrototype.replace(/}$/, `${big}}`)));
      expect(rows).toEqual([]);
      expect(quarantine).toHaveLength(1);
    }
  });

  it('is stored with U+0000 and unpaired surrogates escaped: in a text, a list, an unknown field', async () => {
    const unusual = { blockType: 'a\0b', transactions: ['\ud800', '\0'], future: { '\0': '\udc00' } };
    const { result, rows } = await recordItems(list(text({ ...block(1, 1), ...unusual })));
    expect(result).toMatchObject({ status: 'done', rowsWritten: [1], quarantined: 0 });
    expect(JSON.parse(String(rows[0]?.extra))).toEqual({ future: { '\\u0000': '\\udc00' } });
    const [row] =
      await sql`select block_type, transactions from recorder.proposed_blocks where run_id = ${result.runId}`;
    expect(row).toEqual({ block_type: 'a\\u0000b', transactions: ['\\ud800', '\\u0000'] });
  });

  it('keeps a text of a megabyte, and every unusual character that PostgreSQL accepts', async () => {
    for (const blockHash of ['x'.repeat(500), '\u0001\t"\\{},NULL', 'null', '', '💡 ü', '\\n'])
      expect((await recordItems(list(text({ ...block(1, 1), blockHash })))).rows[0]?.block_hash).toBe(
        blockHash,
      );
    const long = 'x'.repeat(1_000_000);
    const { rows } = await recordItems(list(text({ ...block(1, 1), future: long })));
    expect(JSON.parse(String(rows[0]?.extra))).toEqual({ future: long });
  });
});

describe('a decoder', () => {
  it('excludes fields of other columns and of other datasets of the source', () => {
    const item = { nodeID: 'a', startTime: 1, weight: 5, uptime: '99', connected: true, novel: 1 };
    const body = { validators: [item] };
    expect(buildDecoder(validators).page(body, {}).rows[0]?.row.at(-1)).toBe('{"novel":1}');
    expect(buildDecoder(validatorUptime).page(body, {}).rows[0]?.row.at(-1)).toBeNull();
  });

  it('accepts the first of two contradictory items of one response, and refuses the other', () => {
    const { page: decode } = buildDecoder(validators);
    const member = (weight: number) => ({ nodeID: 'a', startTime: 1, weight });
    expect(decode({ validators: [member(1), member(1)] }, {})).toMatchObject({
      consistent: true,
      rows: [{}],
    });
    const { consistent, rows, items, refused } = decode({ validators: [member(1), member(2)] }, {});
    expect({ consistent, items, rows: rows.length }).toEqual({ consistent: false, items: 2, rows: 1 });
    // On the primary network the weight is the stake.
    const item = { ...member(2), stakeNavax: 2 };
    expect(refused).toEqual([{ reason: CONTRADICTION_REASON, item, key: expect.any(Array) }]);
  });

  it('treats two items of one response as one if only the order of members or the number format differs', () => {
    const decode = buildDecoder(validators).page;
    const member = (more: string) =>
      `{"nodeID":"NodeID-1","txID":"t","startTime":"1","weight":"1","later":${more}}`;
    const body = parseJson(
      `{"validators":[${member('{"a":12345678901234567890,"b":[1]}')},${member('{"b":[1],"a":1234567890123456789e1}')}]}`,
    );
    expect(decode(body, {})).toMatchObject({ rows: [{}], refused: [], consistent: true });
  });

  it('compares keys as PostgreSQL does: numbers as numbers', () => {
    const { page: decode } = buildDecoder(nftTokens);
    const token = (tokenId: string, name: string) => ({ tokenId, name });
    const { rows, refused, consistent } = decode(
      { tokens: [token('1', 'a'), token('01', 'a'), token('001', 'b')] },
      {},
    );
    expect([rows.length, refused.length, consistent]).toEqual([1, 1, false]);
  });

  it('accepts a key once a commit, on any page', () => {
    const { page: decode } = buildDecoder(validators);
    const seenRows = new SeenRows();
    const body = (weight: number) => ({ validators: [{ nodeID: 'a', startTime: 1, weight }] });
    expect(decode(body(1), {}, seenRows)).toMatchObject({ rows: [{}], consistent: true });
    expect(decode(body(1), {}, seenRows)).toMatchObject({ rows: [], consistent: true });
    expect(decode(body(2), {}, seenRows)).toMatchObject({ rows: [], consistent: false });
  });

  it('distinguishes items whose keys differ in a missing part only', () => {
    const { page: decode } = buildDecoder(validators);
    const member = { nodeID: 'a', startTime: 1, weight: 1 };
    expect(decode({ validators: [member, { ...member, txID: 't' }] }, {}).rows).toHaveLength(2);
  });

  it('decodes an object as its single item', () => {
    expect(buildDecoder(nodeIdentity).page({ nodeID: 'NodeID-1' }, {})).toMatchObject({
      items: 1,
      rows: [{}],
    });
    expect(buildDecoder(nodeIdentity).page('text', {})).toMatchObject({ items: 1, rows: [], refused: [{}] });
  });
});
