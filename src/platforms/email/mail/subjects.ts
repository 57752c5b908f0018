// Subjects: recognising answers in the forms of common clients, and the subjects of our own mails.
import type { Urgency } from '../../../contract/index.ts'
import { plainText, readMarkdown } from '../../../kit/markdown/index.ts'
import { wordsIn } from '../../../words/index.ts'

/** Re and its equivalents in the languages of common clients, with counts and missing spaces. */
const PREFIX =
  /^(?:re|aw|antw|sv|vs|rif|rép|ref|odp|ynt|res|回复|答复|回覆|返信)(?:\[\d{1,3}\]|\(\d{1,3}\))?\s*[:：]\s*/iu
const LONGEST = 200
const LONGEST_OWN = 78

/** Returns the subject without the marks of an answer. */
export function bareSubject(subject: string): string {
  let bare = subject.trim()
  for (let times = 0; times < 20; times++) {
    const shorter = bare.replace(PREFIX, '')
    if (shorter === bare) break
    bare = shorter
  }
  return bare
}

export function answerSubject(subject: string): string {
  return `Re: ${bareSubject(subject).slice(0, LONGEST)}`.trim()
}

/** Returns the first line of the text. */
export function ownSubject(text: string, plain: boolean): string {
  const said = plain ? text : plainText(readMarkdown(text.slice(0, 2_000)))
  const line = said.split('\n').find((one) => one.trim() !== '') ?? ''
  const clean = line.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim()
  if (clean === '') return wordsIn().platforms.message
  return clean.length <= LONGEST_OWN
    ? clean
    : `${[...clean.slice(0, LONGEST_OWN - 1)].slice(0, -1).join('')}…`
}

export function markedSubject(subject: string, urgency: Urgency | undefined): string {
  const { urgent, noHurry } = wordsIn().platforms.email
  if (urgency === 'high') return urgent + subject
  return urgency === 'low' ? noHurry + subject : subject
}
