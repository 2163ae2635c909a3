import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import type { RecorderFacts } from '../page.ts';
import { CurrentView } from '../view.ts';

/** Time in which the first steps are displayed, in ms. */
const FIRST_STEPS_MS = 3 * 86_400_000;

interface NextStepsProps {
  readonly recorder: RecorderFacts;
  readonly since: Date | null;
}

/** Next steps in the first days, and as long as the network is simulated. */
export function NextSteps({ recorder: { simulated, directory }, since }: NextStepsProps) {
  const { now } = useContext(CurrentView);
  if (!simulated && since !== null && now - since.getTime() > FIRST_STEPS_MS) return null;
  const steps: ComponentChildren[] = [
    ...(simulated
      ? [
          <>
            This is a simulated network, to look around in. For a real one run{' '}
            <code>chain-recorder init</code> in another directory: it asks for the network, your nodes and
            what to watch, writes <code>recorder.yaml</code> and checks that each service answers. Then start
            there.
          </>,
        ]
      : []),
    <>
      <code>chain-recorder doctor</code> checks the configuration and every service;{' '}
      <code>chain-recorder plan</code> tells what will be asked, against your limits.
    </>,
    <>
      Ask it something:{' '}
      <code>
        chain-recorder query "select node_id, stake_navax from validators order by 2 desc nulls last limit 10"
      </code>
    </>,
    <>
      Keep the head of a seal elsewhere, and nobody can change the record unnoticed:{' '}
      <code>chain-recorder seal --out seal.txt</code>
    </>,
    ...(directory === null
      ? []
      : [
          <>
            The database is embedded, in <code>.recorder/</code> of the directory where the recorder was
            started: include it in your backups, or set <code>DATABASE_URL</code>.
          </>,
        ]),
  ];
  return (
    <section class="panel" aria-labelledby="next">
      <h2 id="next">What to do next</h2>
      <ol class="steps">
        {steps.map((step, at) => (
          <li key={at}>{step}</li>
        ))}
      </ol>
    </section>
  );
}
