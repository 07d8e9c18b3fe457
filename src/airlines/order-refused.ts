/** The airline ordered nothing, for certain: this attempt is over. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';

  /**
   * @param reason becomes the `refund_reason` of the intent: `form_rejected`, `provider_balance_low`, `provider_failed`
   * @param cause the airline's answer, as a Problem with `airline_code` and `airline_request_id` in its detail
   * @param mayPass the same order may be asked for once more, as a new attempt: what refused it passes by itself
   */
  constructor(
    readonly reason: string,
    readonly mayPass: boolean,
    cause?: unknown,
  ) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}
