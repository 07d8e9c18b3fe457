/** A search that the slower tier is still quoting for; kept 30 minutes. */
export interface SearchTable {
  search_id: string;
  /** The parsed request, JSON. */
  request: string;
  started_at_ms: number;
  expires_at_ms: number;
}

type FareMenuStatus = 'pending' | 'ready' | 'failed';

/** The latest look at the fares of one `lowcost:` offer. */
export interface FareMenuTable {
  offer_id: string;
  status: FareMenuStatus;
  /** Every fare that was ever seen, with the number it keeps (JSON); `on_sale` says which the latest look found. */
  fares: string;
  /** Start of the look that `status` is about. */
  opened_at_ms: number;
  checked_at_ms: number | null;
  expires_at_ms: number;
}
