/** A card as a till asks for it. It exists in memory alone: nothing may write it down, log it, or show it. */
export interface Card {
  /** Digits. */
  readonly number: string;
  /** YYYY-MM. */
  readonly expiry: string;
  readonly cvc: string;
  readonly holder: string;
}

export interface CardRequest {
  /** The purchase's own: asked again, it is the same card. */
  readonly reference: string;
  /** What it can be charged: once, and exactly this. */
  readonly amountDecimal: string;
  readonly currency: string;
  /** The carrier's name, for an issuer that ties a card to who may charge it. */
  readonly merchant: string;
}

/** Issues virtual cards, each for one purchase. */
export interface CardIssuer {
  /** Its cards are invented: they buy nothing anywhere but in a sandbox. */
  readonly isSandbox: boolean;
  /** @throws Problem `provider_failed` where there is no card: nothing was bought then */
  issue(request: CardRequest): Promise<Card>;
  /** Ends a card that was not used. Does nothing to one that is gone, or was never issued. */
  revoke(reference: string): Promise<void>;
}
