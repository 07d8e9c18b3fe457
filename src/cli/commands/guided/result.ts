import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const guided = published(z.never().describe('It is for a person at a terminal, and prints no document.'));
