// Removes quoted history and the signature from a person's answer. Each line is examined a constant number of times, so
// no input is slow. In doubtful cases the text stays as it is. The whole text is kept as an attachment in any case.
//
// A library was measured for this (docs/platforms/email.md). It cut real text after a greeting, which is worse than a
// quote.

/** Longer texts are cut to this first. */
export const MOST_STRIPPED = 100_000
const MOST_HEADER_LINES = 4

export interface Stripped {
  readonly text: string
  /** Something was removed. */
  readonly cut: boolean
}

// How clients announce a quote: "On … wrote:", in common languages.
const WROTE: readonly RegExp[] = [
  /^on\b.{0,300}\bwrote:$/i,
  /^am\b.{0,300}\b(schrieb|geschrieben)\b.{0,200}:$/i,
  /^le\b.{0,300}\ba écrit\s?:$/i,
  /^el\b.{0,300}\bescribió:$/i,
  /^em\b.{0,300}\bescreveu:$/i,
  /^il\b.{0,300}\bha scritto:$/i,
  /^op\b.{0,300}\bschreef\b.{0,200}:$/i,
  /^den\b.{0,300}\bskrev\b.{0,200}:$/i,
  /^(dnia|w dniu)\b.{0,300}\bnapisał(\(a\)|a)?:$/iu,
  /^.{0,200}\bпишет:$/iu,
  /^.{0,200}\d{4}\s?г\..{0,200}<[^<>\s]{1,200}>:$/u,
  /^.{0,200}\d{4}年\d{1,2}月\d{1,2}日.{0,200}(写道[:：]|<[^<>\s]{1,200}>\s?[:：])$/u,
  /^在\s?.{0,300}写道[:：]$/u,
  /^.{0,200}<[^<>\s]{1,200}>\s?(wrote|schrieb|a écrit|escribió|написал|님이 작성)\s?[:：]$/iu,
]
// Where an announcement over several lines may begin.
const MAY_BEGIN = /^(on|am|le|el|em|il|op|den|dnia|w dniu|在)\b|^\d{4}[年-]|\d{4}\s?г\./iu
const ORIGINAL =
  /^[-_*\s]{2,}(original message|ursprüngliche nachricht|message d['’]origine|mensaje original|mensagem original|messaggio originale|oorspronkelijk bericht|исходное сообщение|原始邮件|元のメッセージ|forwarded message|weitergeleitete nachricht)[-_*\s]{2,}$/iu
const FORWARDED =
  /forwarded message|weitergeleitete nachricht|message transféré|begin forwarded message|mensaje reenviado/iu
const UNDERSCORES = /^_{20,}$/
// An unmarked block of headers, as Outlook writes it.
const HEADER_NAMES = [
  /^\*{0,2}(from|von|de|da|van|från|od|от|差出人|发件人|寄件者)\s?[:：]\*{0,2}\s/iu,
  /^\*{0,2}(sent|date|gesendet|datum|envoyé|enviado( el| em)?|inviato|verzonden|skickat|wysłano|отправлено|дата|送信日時|发送时间)\s?[:：]\*{0,2}\s/iu,
  /^\*{0,2}(to|an|à|para|a|aan|till|do|кому|宛先|收件人)\s?[:：]\*{0,2}\s/iu,
  /^\*{0,2}(subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|temat|тема|件名|主题)\s?[:：]\*{0,2}(\s|$)/iu,
] as const
const TAIL =
  /^(sent from my .{1,60}|sent from (outlook|mail|yahoo|proton).{0,80}|von meinem .{1,60} gesendet\.?|gesendet von .{1,60}|envoyé de(puis)? mon .{1,60}|enviado desde mi .{1,60}|enviado do meu .{1,60}|inviato da .{1,60}|verstuurd vanaf mijn .{1,60}|skickat från min .{1,60}|отправлено с .{1,60}|get outlook for (ios|android).{0,100}|sent with proton ?mail.{0,60}|从我的.{1,40}发送|.{1,20}から送信)$/iu
const GREETING =
  /^(best( regards| wishes)?|kind( est)? regards|warm regards|regards|cheers|sincerely|yours|thanks( a lot| again)?|thank you|thx|mit freundlichen grüßen|(viele|beste|liebe|herzliche) grüße|vg|lg|mfg|(bien )?cordialement|bien à vous|merci|saludos( cordiales)?|un saludo|gracias|atenciosamente|obrigad[oa]|cordiali saluti|grazie|met vriendelijke groet(en)?|groet(en)?|med vänliga hälsningar|hälsningar|с уважением|спасибо)[,.!]?$/iu
const MOST_SIGNATURE_LINES = 5
const LONGEST_SIGNATURE_LINE = 60

export function stripQuotes(given: string): Stripped {
  const whole = given
    .slice(0, MOST_STRIPPED)
    .replace(/\r\n?/g, '\n')
    .replace(/\u00a0/g, ' ')
  const lines = whole.split('\n')
  const body = withoutTail(withoutSignature(lines.slice(0, quoteStart(lines))))
  const text = body.join('\n').trim()
  const before = whole.trim()
  // If the text is only a quote, the person meant the quote.
  return text === '' ? { text: before, cut: false } : { text, cut: text !== before }
}

/** Returns the line at which quoted history begins; the number of lines if there is none. */
function quoteStart(lines: readonly string[]): number {
  const quotedFrom = quotedToEnd(lines)
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim()
    if (line === '') continue
    if (FORWARDED.test(line) && line.length < 200) return lines.length
    if (line.startsWith('>')) {
      if (quotedFrom[at]) return at
      continue
    }
    if (ORIGINAL.test(line) || isHeaderBlock(lines, at)) return at
    if (UNDERSCORES.test(line) && isHeaderBlock(lines, nextText(lines, at + 1))) return at
    const length = announcement(lines, at)
    // "On Monday Anna wrote:" in the middle of a text announces no quote.
    if (length > 0 && isHistory(lines, at + length, quotedFrom)) return at
  }
  return lines.length
}

/** Returns the number of lines of an announcement that begins here; 0: it is none. */
function announcement(lines: readonly string[], at: number): number {
  let joined = ''
  for (let length = 1; length <= MOST_HEADER_LINES; length++) {
    const line = (lines[at + length - 1] ?? '').trim()
    if (line === '' || joined.length > 500) return 0
    joined = joined === '' ? line : `${joined} ${line}`
    if (joined.length < 800 && /[:：]$/.test(joined) && WROTE.some((form) => form.test(joined))) return length
    if (length === 1 && !MAY_BEGIN.test(line)) return 0
  }
  return 0
}

/**
 * After an announcement, history is quoted to the end, or nothing follows but unmarked history (some clients mark no
 * line).
 */
function isHistory(lines: readonly string[], from: number, quotedFrom: readonly boolean[]): boolean {
  const first = nextText(lines, from)
  if (first >= lines.length) return true
  return !(lines[first] ?? '').trim().startsWith('>') || quotedFrom[first] === true
}

/**
 * Says for each line whether everything from there on is a quote. Answers between quoted lines are read together with
 * them, so only the last quote is history. Computed from the end, because every line of a long quote asks.
 */
function quotedToEnd(lines: readonly string[]): readonly boolean[] {
  const quoted = new Array<boolean>(lines.length)
  let below = true
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = (lines[at] ?? '').trim()
    // Text below a quote is a signature, a second history, or an answer.
    if (line !== '' && !line.startsWith('>'))
      below = line === '--' || TAIL.test(line) || ORIGINAL.test(line) || isHeaderBlock(lines, at)
    quoted[at] = below
  }
  return quoted
}

function isHeaderBlock(lines: readonly string[], at: number): boolean {
  const [from] = HEADER_NAMES
  if (!from.test(`${(lines[at] ?? '').trim()} `)) return false
  let found = 0
  for (let next = at; next < Math.min(lines.length, at + 8); next++) {
    const line = `${(lines[next] ?? '').trim()} `
    if (line === ' ') break
    if (HEADER_NAMES.some((name) => name.test(line))) found += 1
  }
  return found >= 3
}

function nextText(lines: readonly string[], from: number): number {
  let at = from
  while (at < lines.length && (lines[at] ?? '').trim() === '') at += 1
  return at
}

/** A signature begins with "-- ", or with a greeting that only a few short lines follow. */
function withoutSignature(lines: readonly string[]): readonly string[] {
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] ?? ''
    if (line === '-- ' || line === '--') return lines.slice(0, at)
    const below = lines.length - 1 - at
    if (below > 2 * MOST_SIGNATURE_LINES) continue
    if (GREETING.test(line.trim()) && isSignature(lines.slice(at + 1))) return lines.slice(0, at)
  }
  return lines
}

function isSignature(below: readonly string[]): boolean {
  const said = below.map((line) => line.trim()).filter((line) => line !== '')
  return (
    said.length <= MOST_SIGNATURE_LINES &&
    said.every((line) => line.length <= LONGEST_SIGNATURE_LINE && !/[?!:;]$|[a-zа-я]\.$/iu.test(line))
  )
}

function withoutTail(lines: readonly string[]): readonly string[] {
  let end = lines.length
  while (end > 0) {
    const line = (lines[end - 1] ?? '').trim()
    if (line !== '' && !TAIL.test(line)) break
    end -= 1
  }
  return lines.slice(0, end)
}
