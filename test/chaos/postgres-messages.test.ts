import { expect, it } from 'vitest';
import { PostgresMessages } from '../../chaos/servers/postgres-messages.ts';

/** A message with its length, after its type if it has one. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const number = (value: number) => {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
};

it('parses statements after a request for encryption, as a standby sends it', () => {
  const startup = Buffer.concat([number(196_608), Buffer.from('user\0recorder\0\0')]);
  const messages = new PostgresMessages();
  expect(messages.read(message('', number(80_877_104)))).toEqual([]);
  expect(messages.read(message('', number(80_877_103)))).toEqual([]);
  expect(
    messages.read(Buffer.concat([message('', startup), message('Q', Buffer.from('select 1\0'))])),
  ).toEqual(['select 1']);
});
