import { z } from 'zod';
import { suggestNames } from '../lib/nearest-name.ts';
import { headersSchema, pageUrlSchema, urlSchema, VARIABLE_PLACEHOLDER } from './addresses-schema.ts';
import { duration } from './duration-schema.ts';
import { timeOfDaySchema } from './health-schema.ts';
import { findVariables } from './named-secrets.ts';

/** Severities of alerts, in ascending order. */
export const severities = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof severities)[number];

/** Limits that a rule may have, with their descriptions. */
const limits = {
  days: z.number().positive().optional().meta({
    description: 'Of rules that look ahead or back: number of days.',
    unit: 'days',
    absent: 'see docs/how-to/runbook.md',
  }),
  minutes: z.number().positive().optional().meta({
    description: 'Of rules that count within a time, or of remaining downtime: number of minutes.',
    unit: 'minutes',
    absent: 'see docs/how-to/runbook.md',
  }),
  threshold: z.int().positive().optional().meta({
    description: 'Of rules that count: the smallest count that fires.',
    unit: 'a count',
    absent: 'see docs/how-to/runbook.md',
  }),
  percent: z.number().gt(0).lte(100).optional().meta({
    description: 'Of rules about a share: the smallest share that fires.',
    unit: 'percent',
    absent: 'see docs/how-to/runbook.md',
  }),
};
/** Name of a limit. */
export type LimitName = keyof typeof limits;

const ruleName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes')
  .meta({ examples: ['node-down'] });
const channelName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be letters, digits, dots, dashes or underscores')
  .meta({ examples: ['ops'] });

/** Schema of a text with at least one secret part, which comes from an environment variable. */
const secret = (schema: z.ZodString | typeof urlSchema) =>
  schema.refine(
    (text) => findVariables(text).length > 0,
    `is secret: write ${VARIABLE_PLACEHOLDER}, and set NAME or NAME_FILE in the environment`,
  );
/** Schema of an e-mail address, alone or after a name. Secret parts are written as variables. */
const mailbox = () =>
  z
    .string()
    .regex(
      /^(?=[^<>]*$|[^<>]*<[^<>]*>$)(?:[^<>@,;]*<)?(?:[^\s<>@,;]+@[^\s<>@,;]+|\$\{[A-Z0-9_]+\})>?$/,
      'must be one address such as recorder@example.com or Recorder <recorder@example.com>',
    );
const secretText = () => secret(z.string());
const aUrl = (text: string) => urlSchema.meta({ description: text, examples: ['https://service.example'] });

const quietHours = z
  .strictObject({
    from: timeOfDaySchema.meta({ description: 'Start, in quotes.', unit: 'time of day in `timeZone`' }),
    to: timeOfDaySchema.meta({
      description: 'End, in quotes. If it is before `from`: on the next day.',
      unit: 'time of day in `timeZone`',
    }),
    timeZone: z
      .string()
      .refine(isZone, 'must be a time zone such as Europe/Zurich')
      .default('UTC')
      .describe('Time zone of `from` and `to`.'),
  })
  .optional()
  .meta({
    description: 'Quiet hours: only critical alerts are sent; all others are sent afterwards.',
    absent: 'none',
  });

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const common = {
  name: channelName.describe('Name of the channel, unique.'),
  minSeverity: z
    .enum(severities)
    .default('info')
    .describe('Minimum severity of the alerts that the channel receives.'),
  quietHours,
};
const kind = <Type extends string>(type: Type) =>
  z
    .literal(type)
    .describe(
      'Type of the channel: webhook, slack, discord, telegram, email, pagerduty, ntfy or alertmanager.',
    );

/** Names that a template may use as `{{NAME}}`. */
const templateNames = 'kind rule severity recorder network advice runbook page key title text message'.split(
  ' ',
);
/** Pattern of a placeholder of a template; the first group is the name. */
export const TEMPLATE_PLACEHOLDER = /\{\{ *(\w+) *\}\}/g;

/**
 * Rejects a template that contains unknown names, or that is not valid JSON after the placeholders are
 * filled.
 */
function validTemplate(template: string, context: z.RefinementCtx): void {
  for (const [place, name = ''] of template.matchAll(TEMPLATE_PLACEHOLDER))
    if (!templateNames.includes(name))
      context.addIssue(
        `there is no placeholder ${place}; use ${templateNames.map((one) => `{{${one}}}`).join(', ')}`,
      );
  // Example of a message text: quotes, backslashes and line ends, escaped as within a JSON string.
  const example = JSON.stringify('a "quoted" \\ text\n').slice(1, -1);
  const filled = template
    .replaceAll(TEMPLATE_PLACEHOLDER, (_, name: string) => (name === 'message' ? '{"title":"a"}' : example))
    .replaceAll(/\$\{\w+\}/g, '1');
  try {
    JSON.parse(filled);
  } catch {
    context.addIssue(
      'is not valid JSON after the placeholders are filled: put each one in a quoted string, such as "{{title}}", and {{message}} without quotes',
    );
  }
}

const channel = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: kind('webhook'),
    url: aUrl(
      `URL of the service; secret parts as \`${VARIABLE_PLACEHOLDER}\`. telegram, pagerduty and ntfy have a default.`,
    ),
    headers: headersSchema,
    body: z.string().superRefine(validTemplate).optional().meta({
      description:
        'Template of the JSON body, with `{{title}}`, `{{text}}`, `{{kind}}`, `{{rule}}`, `{{severity}}`, `{{recorder}}`, `{{network}}`, `{{advice}}`, `{{runbook}}`, `{{page}}` and `{{key}}` within texts, and `{{message}}` for the whole message.',
      absent: 'the whole message',
    }),
  }),
  z.strictObject({
    ...common,
    type: kind('slack'),
    url: secret(
      aUrl(
        `URL of the service; secret parts as \`${VARIABLE_PLACEHOLDER}\`. telegram, pagerduty and ntfy have a default.`,
      ),
    ),
  }),
  z.strictObject({
    ...common,
    type: kind('discord'),
    url: secret(
      aUrl(
        `URL of the service; secret parts as \`${VARIABLE_PLACEHOLDER}\`. telegram, pagerduty and ntfy have a default.`,
      ),
    ),
  }),
  z.strictObject({
    ...common,
    type: kind('telegram'),
    url: aUrl(
      `URL of the service; secret parts as \`${VARIABLE_PLACEHOLDER}\`. telegram, pagerduty and ntfy have a default.`,
    ).default('https://api.telegram.org'),
    token: secretText().meta({ description: 'The token: of a bot (telegram), or of an account (ntfy).' }),
    chat: z
      .union([z.int(), z.string().min(1)])
      .meta({ description: 'telegram: the id of the chat, or @channel.' }),
  }),
  z.strictObject({
    ...common,
    type: kind('pagerduty'),
    url: aUrl(
      `URL of the service; secret parts as \`${VARIABLE_PLACEHOLDER}\`. telegram, pagerduty and ntfy have a default.`,
    ).default('https://events.pagerduty.com'),
    key: secretText().meta({ description: 'pagerduty: the integration key of a service (Events API v2).' }),
  }),
  z.strictObject({
    ...common,
    type: kind('ntfy'),
    url: aUrl(
      `URL of the service; secret parts as \`${VARIABLE_PLACEHOLDER}\`. telegram, pagerduty and ntfy have a default.`,
    ).default('https://ntfy.sh'),
    topic: z
      .string()
      .regex(/^([-_A-Za-z0-9]|\$\{[A-Z0-9_]+\}){1,64}$/, 'must be letters, digits, dashes and underscores')
      .describe(
        `ntfy: the topic. Anyone with the name can read its messages, so the name can be a secret: \`${VARIABLE_PLACEHOLDER}\`.`,
      ),
    token: secretText().optional().meta({
      description: 'The token: of a bot (telegram), or of an account (ntfy).',
      absent: 'none is sent',
    }),
  }),
  z.strictObject({
    ...common,
    type: kind('alertmanager'),
    url: aUrl(
      `URL of the service; secret parts as \`${VARIABLE_PLACEHOLDER}\`. telegram, pagerduty and ntfy have a default.`,
    ),
    headers: headersSchema,
  }),
  z.strictObject({
    ...common,
    type: kind('email'),
    host: z
      .string()
      .min(1)
      .regex(
        /^([\p{L}\p{N}_.-]*|[\da-fA-F:]*)$/u,
        'must be a host name or an IP address, without a scheme and a port',
      )
      .describe('email: the SMTP server.'),
    port: z.int().min(1).max(65_535).default(587).meta({
      description: 'email: its port; 465 is TLS from the first byte, elsewhere STARTTLS is used.',
    }),
    user: z.string().min(1).optional().meta({ description: 'email: the user name.', absent: 'no login' }),
    password: secretText()
      .optional()
      .meta({ description: 'email: the password. It is sent over TLS only.', absent: 'no login' }),
    from: mailbox().describe('email: the sender, such as `Recorder <recorder@example.com>`.'),
    to: z.array(mailbox()).nonempty().describe('email: the receivers.'),
  }),
]);

/** Limits of the default rules, for the validation of names. The rules themselves are in a higher layer. */
export type RuleLimits = Readonly<Record<string, readonly LimitName[]>>;

/**
 * Returns the schema of `alerts` in `recorder.yaml`.
 * @param defaultRules default rules with their limits
 */
export function alertsSchema(defaultRules: RuleLimits) {
  const rule = z
    .strictObject({
      name: ruleName.describe('Name of a default rule that is changed, or of a custom rule with `sql`.'),
      enabled: z.boolean().default(true).describe('False: the rule is turned off.'),
      severity: z.enum(severities).optional().meta({
        description: 'Severity of its alerts.',
        absent: 'see docs/how-to/runbook.md; of a custom rule: warning',
      }),
      for: duration.optional().meta({
        description: 'Minimum duration of the condition before the alert fires.',
        absent: 'see docs/how-to/runbook.md; of a custom rule: none',
      }),
      repeatInterval: duration.optional().meta({
        description: 'Interval at which an open alert is sent again.',
        absent: 'as `alerts.repeatInterval`',
      }),
      every: duration.optional().meta({
        description: 'Interval of the evaluation.',
        absent: 'see docs/how-to/runbook.md; of a custom rule: 1m',
      }),
      channels: z
        .array(channelName)
        .optional()
        .meta({ description: 'Channels that receive its alerts.', absent: 'all channels' }),
      ...limits,
      sql: z.string().trim().min(1).optional().meta({
        description:
          'Of a custom rule: a query on `reporting`, run as recorder_reader. Each row is an alert. Its subject is the column `subject`, or else the first column. The columns `summary`, `severity` and `since` are optional.',
        absent: 'the rule is a default rule',
      }),
    })
    .superRefine((one, context) => {
      const say = (path: string, message: string) =>
        context.addIssue({ code: 'custom', path: [path], message });
      const has = defaultRules[one.name];
      if (one.sql === undefined && has === undefined)
        say(
          'name',
          `there is no default rule "${one.name}", and a custom rule needs sql; ${suggestNames(one.name, Object.keys(defaultRules))}`,
        );
      if (one.sql !== undefined && has !== undefined)
        say('sql', `${one.name} is a default rule: give yours another name, or turn that one off`);
      for (const limit of ['days', 'minutes', 'threshold', 'percent'] as const)
        if (one[limit] !== undefined && !has?.includes(limit))
          say(
            limit,
            `has no effect: ${one.name} ${has?.length ? `only has ${has.join(', ')}` : 'has no such number'}`,
          );
    });
  return z.strictObject({
    enabled: z.boolean().default(true).describe('False: no rule is evaluated.'),
    every: duration
      .prefault('30s')
      .describe('Interval of the rounds. Each rule also has an interval of its own.'),
    repeatInterval: duration
      .prefault('1d')
      .describe('Interval at which an open alert is sent again until it is acknowledged.'),
    heartbeat: urlSchema.optional().meta({
      description:
        "A URL that is requested (GET) after every round in which all rules were evaluated and no channel has failed for long: a dead man's switch.",
      absent: 'no request',
      examples: [`https://hc-ping.example/${VARIABLE_PLACEHOLDER}`],
    }),
    runbook: pageUrlSchema.optional().meta({
      description: 'URL of your runbook: messages link to it, with `#RULE` at its end.',
      absent: 'no link',
      examples: ['https://wiki.example/recorder'],
    }),
    channels: z
      .array(channel)
      .default([])
      .meta({ description: 'Receivers of alerts.', absent: 'none: alerts are in `reporting.alerts` only' }),
    rules: z.array(rule).default([]).meta({
      description: 'Changes of default rules, by name, and custom rules.',
      absent: 'the default rules',
    }),
  });
}

/** Configuration of alerts. */
export type AlertsConfig = z.infer<ReturnType<typeof alertsSchema>>;
export type ChannelConfig = AlertsConfig['channels'][number];
