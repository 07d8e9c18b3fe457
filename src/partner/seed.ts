import type { PartnerPorts } from './ports.ts';

export async function ensureSeed({ environment }: PartnerPorts): Promise<void> {
  if (environment !== 'demo') return;
}
