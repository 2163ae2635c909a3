import { TEMPLATE_PLACEHOLDER } from '../../config/alerts-schema.ts';
import { callChannel } from '../../upstreams/deliver.ts';
import type { MakeChannel } from '../channel.ts';
import type { AlertMessage } from '../message.ts';
import { formatText, formatTitle } from '../message-texts.ts';

/**
 * Channel that sends messages as JSON in POST requests. `Idempotency-Key` is equal for each attempt of a
 * message.
 */
export const webhook: MakeChannel<'webhook'> = ({ url, headers, body }) => ({
  send: async (message, signal) => {
    await callChannel(
      {
        url,
        headers: {
          'idempotency-key': message.key,
          ...Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value])),
        },
        body: body === undefined ? wholeOf(message) : filled(body, message),
      },
      signal,
    );
  },
});

const wholeOf = ({ maybeAgain, ...message }: AlertMessage) => ({
  ...message,
  title: formatTitle(message),
  text: formatText({ ...message, maybeAgain }),
  maybe_again: maybeAgain,
});

/** Fills a template with the values of a message, escaped for JSON strings. */
function filled(template: string, message: AlertMessage): string {
  const { kind, rule, severity, recorder, network, advice, key } = message;
  const values: Readonly<Record<string, string>> = {
    ...{ kind, rule, severity, recorder, network, advice, key },
    runbook: message.runbook ?? '',
    page: message.page ?? '',
    title: formatTitle(message),
    text: formatText(message),
  };
  return template.replaceAll(TEMPLATE_PLACEHOLDER, (_, name: string) =>
    name === 'message' ? JSON.stringify(wholeOf(message)) : JSON.stringify(values[name] ?? '').slice(1, -1),
  );
}
