/**
 * A bar that is filled by a share.
 * @param share 0 to 1; greater shares are drawn as 1
 * @param label description for screen readers
 */
export function Meter({
  share,
  tone,
  label,
}: {
  readonly share: number;
  readonly tone: string;
  readonly label: string;
}) {
  const width = Math.min(Math.max(share, 0), 1) * 100;
  return (
    <svg class={`meter ${tone}`} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect class="whole" width="100" height="6" />
      <rect class="part" width={width} height="6" />
    </svg>
  );
}
