import { configuredRules } from '../alerts/configured-rules.ts';
import type { AlertContext } from '../alerts/context.ts';
import { deliver } from '../alerts/deliver.ts';
import { sendHeartbeat } from '../alerts/heartbeat.ts';
import { dueChannels } from '../alerts/outbox.ts';
import { runRound } from '../alerts/round.ts';
import type { RuleFacts } from '../alerts/rule.ts';
import type { App } from '../app/app.ts';
import type { AlertsConfig } from '../config/alerts-schema.ts';
import { collectTexts, type NamedSecrets, readReferencedSecrets } from '../config/named-secrets.ts';
import { openAlertConnection } from '../db/client.ts';
import type { AlertTasks } from '../jobs/alert-jobs.ts';
import { UsageError } from '../lib/errors.ts';
import { diskUse } from '../reporting/reports/disk.ts';

/** Reads the secrets that the alert configuration references. */
export const alertSecrets = ({ channels, heartbeat }: AlertsConfig): NamedSecrets =>
  readReferencedSecrets(collectTexts([channels, heartbeat ?? '']));

/**
 * Checks the secrets that channels and heartbeat reference.
 * @returns every problem, with its path in the configuration file; empty if all are valid
 */
export function checkAlertSecrets(alerts: AlertsConfig, secrets = alertSecrets(alerts)): string[] {
  const { channels, heartbeat } = alerts;
  return [
    ...channels.flatMap((channel, at) =>
      Object.entries(channel).flatMap(([name, value]) =>
        collectTexts(value).flatMap((text) =>
          secrets.problems(text).map((problem) => `alerts.channels[${at}].${name}: ${problem}`),
        ),
      ),
    ),
    ...secrets.problems(heartbeat ?? '').map((problem) => `alerts.heartbeat: ${problem}`),
  ];
}

/** Open resources of the application's alerts. */
export interface AlertResources extends AlertContext {
  close(): Promise<void>;
}

/**
 * Opens the resources of the alerts.
 * @param sending channels and heartbeat that send messages: the secrets that they reference must be set
 * @throws UsageError if a referenced variable is missing
 */
export function openAlertResources(app: App, sending: AlertsConfig = app.config.alerts): AlertResources {
  const { config, database, databaseUrl, clock, log } = app;
  const secrets = alertSecrets(sending);
  const problems = checkAlertSecrets(sending, secrets);
  if (problems.length > 0) throw new UsageError(problems);
  const reader = openAlertConnection(databaseUrl);
  return {
    sql: database.sql,
    reader,
    clock,
    log,
    config: config.alerts,
    rules: configuredRules(config.alerts, databaseUrl),
    sender: {
      recorder: config.name,
      network: config.network,
      runbook: config.alerts.runbook ?? null,
      publicUrl: config.server.publicUrl ?? null,
    },
    facts: factsOf(app, reader),
    secrets,
    close: () => reader.end({ timeout: 1 }),
  };
}

function factsOf({ config, budgets, embeddedDirectory }: App, reader: AlertContext['reader']): RuleFacts {
  const { chainData, metrics, nodes } = config.upstreams;
  const perDay: Readonly<Record<string, number | undefined>> = {
    chainData: chainData?.budget?.perDay,
    metrics: metrics?.budget?.perDay,
  };
  return {
    recorder: config.name,
    nodes: nodes.map(({ name }) => name),
    nodeIds: config.watch.nodeIds,
    rewards: config.health.rewards,
    budgets: budgets.flatMap((key) => {
      const limit = perDay[key.upstream];
      return limit === undefined ? [] : [{ ...key, perDay: limit }];
    }),
    disk: () => diskUse(reader, embeddedDirectory),
  };
}

/** Returns the alert jobs of a worker. */
export function createAlertJobs(alerting: AlertResources): AlertTasks {
  const { sql, config, sender, log } = alerting;
  return {
    round: async (signal) => {
      const round = await runRound(alerting, signal);
      for (const { alert, kind } of round?.notices ?? [])
        log.info({ alert: alert.id, rule: alert.rule, subject: alert.subject, kind }, alert.summary);
      for (const one of round?.failed ?? []) log.warn(one, 'an alert rule could not be evaluated');
      if (round && round.failed.length === 0) await sendHeartbeat(alerting, signal);
      const forgetful = config.channels.filter(({ type }) => type === 'alertmanager').map(({ name }) => name);
      const names = config.channels.map(({ name }) => name);
      return [...new Set([...(await dueChannels(sql, sender.recorder, names)), ...forgetful])];
    },
    deliver: async (channel, signal) => {
      const { sent, more } = await deliver(alerting, channel, signal);
      if (sent > 0) log.info({ channel, sent }, 'alerts were sent');
      return more;
    },
  };
}
