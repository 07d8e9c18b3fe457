/**
 * Postal codes whose form is fixed, by alpha-3 country, for countries where every address has one. Elsewhere a code
 * is taken when it has 2 to 12 letters, digits, spaces and hyphens, and may be left out.
 */
export const POSTAL_CODES: Readonly<Record<string, RegExp>> = {
  AUS: /^\d{4}$/,
  AUT: /^[1-9]\d{3}$/,
  BEL: /^[1-9]\d{3}$/,
  BRA: /^\d{5}-?\d{3}$/,
  CAN: /^[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d$/i,
  CHE: /^[1-9]\d{3}$/,
  CZE: /^\d{3} ?\d{2}$/,
  DEU: /^\d{5}$/,
  DNK: /^\d{3,4}$/,
  ESP: /^(0[1-9]|[1-4]\d|5[0-2])\d{3}$/,
  FIN: /^\d{5}$/,
  FRA: /^\d{2} ?\d{3}$/,
  GBR: /^(GIR ?0AA|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})$/i,
  GRC: /^\d{3} ?\d{2}$/,
  HUN: /^\d{4}$/,
  IND: /^[1-9]\d{2} ?\d{3}$/,
  ITA: /^\d{5}$/,
  JPN: /^\d{3}-?\d{4}$/,
  MEX: /^\d{5}$/,
  NLD: /^[1-9]\d{3} ?[A-Z]{2}$/i,
  NOR: /^\d{4}$/,
  NZL: /^\d{4}$/,
  POL: /^\d{2}-?\d{3}$/,
  PRT: /^\d{4}(-?\d{3})?$/,
  SGP: /^\d{6}$/,
  SWE: /^\d{3} ?\d{2}$/,
  TUR: /^\d{5}$/,
  USA: /^\d{5}([ -]?\d{4})?$/,
};
