// The tasks of the mail worker: read a mail's text and attachments, read a report on a mail of ours, return one part,
// and verify a signature.
import type { Attachment } from '../../../contract/index.ts'
import type { Ask, Task } from '../../../kit/workers/serve-tasks.ts'
import { type LaterWord, laterWord, type ReportOf } from './bounces.ts'
import { verifyDkim } from './dkim.ts'
import { readHeaders } from './headers.ts'
import { attachmentsOf, type PartReference, partBytes, readMail, spokenIn } from './parse.ts'
import type { Proof } from './verify.ts'

export interface SpokenInput {
  readonly raw: Uint8Array
  readonly of: Omit<PartReference, 'part'>
  /** Only its beginning was read, so its attachments are incomplete. */
  readonly isCut: boolean
}

export interface SpokenMail {
  readonly text: string
  readonly attachments: readonly Attachment[]
  /** The number of attached parts, listed or not. */
  readonly attached: number
  /** Only its first lines were read. */
  readonly isLong: boolean
}

export type ReportInput = ReportOf & { readonly raw: Uint8Array }
export interface PartInput {
  readonly raw: Uint8Array
  readonly part: string
}
export interface DkimInput {
  readonly raw: Uint8Array
  readonly sender: string
}

async function spoken({ raw, of, isCut }: SpokenInput): Promise<SpokenMail | { readonly problem: string }> {
  const read = await readMail(raw)
  if ('problem' in read) return read
  const { text, whole } = spokenIn(read.mail)
  const attachments = isCut ? [] : attachmentsOf(read.mail, whole, of)
  return { text, attachments, attached: read.mail.attachments.length, isLong: read.isLong }
}

async function report(input: ReportInput): Promise<LaterWord | null> {
  const read = await readMail(input.raw)
  return 'problem' in read ? null : laterWord(read.mail, readHeaders(input.raw), input)
}

async function part({ raw, part: name }: PartInput): Promise<Uint8Array | null> {
  const read = await readMail(raw)
  return 'problem' in read ? null : partBytes(read.mail, name)
}

const dkim = ({ raw, sender }: DkimInput, ask: Ask): Promise<Proof> =>
  verifyDkim(raw, sender, async (name) => (await ask(name)) as string[][])

export const MAIL_TASKS: Readonly<Record<string, Task>> = { spoken, report, part, dkim }
