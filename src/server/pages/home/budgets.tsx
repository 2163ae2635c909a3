import { beyondBudget, type Demand } from '../../../reporting/reports/call-demand.ts';
import type { Status } from '../../../reporting/reports/status.ts';
import { Meter } from '../parts/meter.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Empty } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { numberText } from '../texts.ts';

interface BudgetsProps {
  readonly budgets: Status['budgets'];
  /** Demand of the schedules for each upstream; null while the demand is being computed. */
  readonly demands: readonly Demand[] | null;
}

/** The used budget of each upstream and the demand of the schedules, in budget units of the upstream. */
export function Budgets({ budgets, demands }: BudgetsProps) {
  return (
    <section class="panel" aria-labelledby="budgets">
      <h2 id="budgets">Budget today</h2>
      {demands === null && <Empty>The demand of the schedules is being computed.</Empty>}
      {demands?.length === 0 && <Empty>No metered service is configured.</Empty>}
      {demands?.map((demand) => (
        <Budget demand={demand} used={budgets.find(({ upstream }) => upstream === demand.upstream)} />
      ))}
    </section>
  );
}

function Budget({
  demand,
  used,
}: {
  readonly demand: Demand;
  readonly used: Status['budgets'][number] | undefined;
}) {
  const { upstream, unitsPerDay, allowedPerDay } = demand;
  const beyond = beyondBudget(demand);
  const units = used?.day_units ?? 0;
  const share = allowedPerDay === null ? null : units / allowedPerDay;
  return (
    <div class="stack tight">
      <h3 class="head">
        {upstream}
        {allowedPerDay !== null && (
          <span class="number">
            {numberText(units)} <span class="soft">of {numberText(allowedPerDay)} units</span>
          </span>
        )}
      </h3>
      {share !== null && (
        <Meter
          share={share}
          tone={share > 0.95 ? 'bad' : share > 0.8 ? 'warn' : 'busy'}
          label={`${Math.round(share * 100)} % of the units of the day are used`}
        />
      )}
      <p class="soft small">
        The schedules need {numberText(Math.round(unitsPerDay))} units a day.
        {allowedPerDay === null &&
          ` Used units are not counted, because upstreams.${upstream}.budget declares no limit.`}
      </p>
      {beyond && (
        <p class="small">
          <StateBadge is="late">{beyond}</StateBadge>
        </p>
      )}
      {used?.blocked_until && (
        <p class="small">
          <StateBadge is="late">
            Paused until <Time at={used.blocked_until} />
            because the upstream sent “{used.blocked_by}”.
          </StateBadge>
        </p>
      )}
    </div>
  );
}
