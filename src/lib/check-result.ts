/** What `doctor` found of one thing. */
export interface Checked {
  /** What was looked at, such as `database` or `nodes/validator-1`. */
  readonly check: string;
  /** False: something must be fixed. */
  readonly ok: boolean;
  /** True: there was nothing, or too little, that could be checked; shown as `--` instead of `ok`. */
  readonly nothingToCheck?: boolean;
  /** What is the case; of a fault where it is and its cause. */
  readonly found: string;
  /** What to do about it. */
  readonly mend?: string;
}
