import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const refundDesk = published(
  z.never().describe('It is for an operator at a terminal, and prints no document.'),
);
