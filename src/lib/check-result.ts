/** Result of one check of `doctor`. */
export interface CheckResult {
  /** The object of the check, such as `database` or `nodes/validator-1`. */
  readonly check: string;
  /** False if something must be fixed. */
  readonly ok: boolean;
  /** True if there was nothing, or not enough data, to check. Printed as `--` instead of `ok`. */
  readonly nothingToCheck?: boolean;
  /** The observed state. For a failure: the location and the cause. */
  readonly found: string;
  /** Fix of the failure. */
  readonly fix?: string;
}
