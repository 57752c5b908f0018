// Parsing the bytes of a mail into its text and attachments.
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mailOf } from '../fixtures/signed-mail.ts'
import { automaticSign } from './automatic.ts'
import { type HeaderField, readHeaders } from './headers.ts'
import { htmlText } from './html-text.ts'
import { answeredIds, createMessageIds, ownId, subjectToken, tokenInSubject } from './message-ids.ts'
import { attachmentsOf, partBytes, readMail, readReference, spokenIn } from './parse.ts'
import { answerSubject, bareSubject, markedSubject, ownSubject } from './subjects.ts'

const read = async (...lines: readonly string[]) => {
  const result = await readMail(mailOf(...lines))
  if ('problem' in result) throw new Error(result.problem)
  return result.mail
}
/** Counts the list elements that are read or moved, until it is undone. */
function countLooks(): readonly [{ readonly places: number }, () => void] {
  const looked = { places: 0 }
  const undo = (['unshift', 'shift', 'indexOf', 'includes', 'splice'] as const).map((name) => {
    const original = Array.prototype[name] as (...given: unknown[]) => unknown
    const put = (value: unknown) =>
      Object.defineProperty(Array.prototype, name, { value, writable: true, configurable: true })
    put(function (this: readonly unknown[], ...given: unknown[]) {
      looked.places += this.length
      return original.apply(this, given)
    })
    return () => put(original)
  })
  return [looked, () => void undo.map((each) => each())]
}
const OF = { uidValidity: '7', uid: 3, messageId: '<m@home.test>' }
const TEXT = 'Content-Type: text/plain; charset=utf-8'

describe('what is said', () => {
  it('[I19.parse-text] text is taken; HTML becomes Markdown where there is none, or only a stub', async () => {
    const both = await read(
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      TEXT,
      '',
      'the text',
      '--b',
      'Content-Type: text/html',
      '',
      '<p>the html</p>',
      '--b--',
    )
    expect(spokenIn(both)).toEqual({ text: 'the text', whole: null })
    const html =
      '<h1>Deploy</h1><p>It is <b>done</b>, see <a href="https://x.test/a b">here</a>.</p><ul><li>one</li><li>two</li></ul><pre>a  b</pre>'
    const only = await read('Content-Type: text/html; charset=utf-8', '', html)
    expect(spokenIn(only).text).toBe(
      '# Deploy\n\nIt is **done**, see [here](https://x.test/a%20b).\n\n- one\n- two\n\n```\na  b\n```',
    )
    const stub = await read(
      'Content-Type: multipart/alternative; boundary=b',
      '',
      '--b',
      TEXT,
      '',
      'Your client does not support HTML.',
      '--b',
      'Content-Type: text/html',
      '',
      '<p>the html</p>',
      '--b--',
    )
    expect(spokenIn(stub).text).toBe('the html')
  })

  it('[I19.parse-hidden] what people cannot see, scripts and pictures elsewhere do not come through', () => {
    const html =
      '<style>p{}</style><script>alert(1)</script><p>seen<span style="DISPLAY:none">hidden one</span><span style="font-size:0px">hidden two</span></p><div hidden>hidden three</div><img src="https://track.test/p.gif"><img src="cid:a" alt="a chart"><a href="javascript:alert(1)">click</a>'
    const { whole } = htmlText(html)
    expect(whole).not.toMatch(/hidden|alert|track/)
    expect(whole).toContain('seen')
    expect(whole).toContain('[image: a chart]')
    expect(whole).toContain('click')
  })

  it('[I19.parse-hidden] zero-width characters, tags and controls are taken out; joiners of emoji stay', async () => {
    const mail = await read(TEXT, '', 'a\u200bb\u202ec\u{e0041}d\u0000e 👩‍💻')
    expect(spokenIn(mail).text).toBe('abcde 👩‍💻')
  })

  it('[I19.strip-quotes] history is cut off, in HTML too, and the whole is an attachment', async () => {
    const mail = await read(
      'Content-Type: text/html; charset=utf-8',
      '',
      '<div>yes abcde</div><div class="gmail_quote"><blockquote>Run it? secret of the past</blockquote></div>',
    )
    const spoken = spokenIn(mail)
    expect(spoken.text).toBe('yes abcde')
    expect(spoken.whole).toContain('secret of the past')
    const [original] = attachmentsOf(mail, spoken.whole, OF)
    expect(original).toMatchObject({ id: 'original', name: 'original.txt', mime: 'text/plain' })
    const bytes = partBytes(mail, readReference(original?.ref ?? '')?.part ?? '')
    expect(Buffer.from(bytes ?? []).toString()).toContain('secret of the past')
  })

  it.each([
    ['iso-8859-1', Buffer.from('R\xe9sum\xe9', 'latin1'), 'Résumé'],
    ['windows-1252', Buffer.from([0x80]), '€'],
    ['iso-2022-jp', Buffer.from('\x1b$B$3$s\x1b(B', 'latin1'), 'こん'],
    ['gb2312', Buffer.from([0xc4, 0xe3]), '你'],
    ['utf-8', Buffer.from([0xff, 0xfe, 0x41]), '\ufffd\ufffdA'],
    ['no-such-charset', Buffer.from('plain'), 'plain'],
  ])('[I19.parse-charsets] %s is decoded, and never throws', async (charset, bytes, text) => {
    const result = await readMail(
      Buffer.concat([mailOf(`Content-Type: text/plain; charset=${charset}`, '', ''), bytes]),
    )
    expect('mail' in result && spokenIn(result.mail).text).toBe(text)
  })
})

describe('what hangs on it', () => {
  it('[I19.parse-parts] attachments and inline pictures are references with safe names; calendar and winmail parts are named', async () => {
    const mail = await read(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      TEXT,
      '',
      'see there',
      '--b',
      'Content-Type: application/pdf; name="..\\..\\etc/passwd.pdf"',
      'Content-Disposition: attachment; filename="..\\..\\etc/passwd.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      'JVBERi0=',
      '--b',
      'Content-Type: image/png',
      'Content-Disposition: inline',
      'Content-ID: <a>',
      'Content-Transfer-Encoding: base64',
      '',
      'iVBORw==',
      '--b',
      'Content-Type: text/calendar; method=REQUEST',
      '',
      'BEGIN:VCALENDAR',
      '--b',
      'Content-Type: application/ms-tnef',
      'Content-Transfer-Encoding: base64',
      '',
      'eJ8+Ig==',
      '--b',
      'Content-Type: message/rfc822',
      '',
      'Subject: inner',
      '',
      'inner text',
      '--b--',
    )
    const list = attachmentsOf(mail, null, OF)
    expect(list.map(({ name, kind, mime }) => `${name} ${kind} ${mime}`)).toEqual(
      [
        'passwd.pdf file application/pdf',
        'image-2.png image image/png',
        'invite.ics file text/calendar',
        'winmail.dat file application/ms-tnef',
        'inner.eml file message/rfc822',
      ].map((line) =>
        line.startsWith('inner') ? expect.stringMatching(/\.eml file message\/rfc822$/) : line,
      ),
    )
    expect(spokenIn(mail).text).toBe('see there')
    expect(readReference(list[0]?.ref ?? '')).toEqual({ ...OF, part: '0' })
    expect(Buffer.from(partBytes(mail, '0') ?? []).toString()).toBe('%PDF-')
    expect(partBytes(mail, '99')).toBeNull()
    expect(readReference('../../etc/passwd')).toBeNull()
  })

  it.each(['<b>', '<div>', '<blockquote>'])(
    '[I35.b9] tags without end, %s, stand open no deeper than a page has them',
    (tag) => {
      const [looked, undo] = countLooks()
      try {
        htmlText(`${tag.repeat(20_000)}hello`)
      } finally {
        undo()
      }
      // Searching each among all would be 200 million.
      expect(looked.places).toBeLessThan(30_000_000)
    },
  )

  it('[I19.bad-mime] bombs of nesting and of parts are refused, quickly', async () => {
    const began = process.hrtime.bigint()
    const parts = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(100_000)}`
    expect(await readMail(Buffer.from(parts))).toEqual({ problem: 'the mail has more than 2000 parts' })
    let nested = 'x'
    for (let at = 0; at < 300; at++)
      nested = `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n${nested}`
    expect(await readMail(Buffer.from(nested))).toHaveProperty('problem')
    expect(Number(process.hrtime.bigint() - began) / 1e6).toBeLessThan(10_000)
  })
})

describe('ids and subjects', () => {
  it('[I19.out-id] the outbox id stands in our Message-ID, signed, and comes back out of it alone', () => {
    const sign = (key: string) => (text: string) => createHmac('sha256', key).update(text).digest('hex')
    const ids = createMessageIds('gw.test', sign('a'))
    const id = ids.of('o_tag_1a')
    expect(id).toMatch(/^<swb\.o_tag_1a\.[0-9a-f]{16}@gw\.test>$/)
    expect(ids.keyIn(id)).toBe('o_tag_1a')
    expect(ids.keyIn(id.replace('1a', '1b'))).toBeNull()
    expect(createMessageIds('gw.test', sign('b')).keyIn(id)).toBeNull()
    expect(createMessageIds('other.test', sign('a')).keyIn(id)).toBeNull()
    expect(ids.keyIn('<swb.o_tag_1a@gw.test>')).toBeNull()
    expect(ids.keyIn('<other@gw.test>')).toBeNull()
    const token = tokenInSubject(`Re: hello ${subjectToken(ids.tokenOf('o_tag_1a'))}`)
    expect(ids.keyInToken(token ?? '')).toBe('o_tag_1a')
    expect(ids.keyInToken('o_tag_1a')).toBeNull()
  })

  it('reads references of any shape, and knows a mail without an id by what it says', () => {
    const fields = (text: string): readonly HeaderField[] => readHeaders(Buffer.from(text))
    expect(
      answeredIds(fields('In-Reply-To: (mail of) <c@x>\r\nReferences: <a@x>,<b@x>\r\n <c@x> null\r\n\r\n')),
    ).toEqual(['<c@x>', '<b@x>', '<a@x>'])
    expect(answeredIds(fields('References: null\r\n\r\n'))).toEqual([])
    const nameless = ownId(fields('Subject: x\r\n\r\n'), () => 'content')
    expect(nameless).toBe(ownId([], () => 'content'))
    expect(nameless).not.toBe(ownId([], () => 'other'))
    expect(ownId(fields(`Message-ID: <${'x'.repeat(800)}@x>\r\n\r\n`), () => '').length).toBeLessThan(200)
  })

  it('[I19.out-thread] subjects of answers are as clients write them', () => {
    expect(bareSubject('AW: Re[2]: 回复：Re:hello')).toBe('hello')
    expect(answerSubject('Re: hello')).toBe('Re: hello')
    expect(answerSubject('hello')).toBe('Re: hello')
    expect(answerSubject('Report: hello')).toBe('Re: Report: hello')
    expect(ownSubject('\n**Done.** It runs.\nMore.', false)).toBe('Done. It runs.')
    expect([...ownSubject('x'.repeat(500), true)].length).toBeLessThanOrEqual(78)
    expect(markedSubject('x', 'high')).toBe('[Urgent] x')
  })
})

describe('automatic mail', () => {
  const sign = (line: string, sender = 'kate@home.test', subject = 'hi') =>
    automaticSign(readHeaders(Buffer.from(`${line}\r\n\r\n`)), { sender, subject })

  it.each([
    'Auto-Submitted: auto-replied',
    'Auto-Submitted: auto-generated',
    'Precedence: bulk',
    'Precedence: list',
    'Precedence: junk',
    'X-Precedence: auto_reply',
    'List-Id: <news.home.test>',
    'List-Unsubscribe: <mailto:x@home.test>',
    'List-Post: <mailto:x@home.test>',
    'Feedback-ID: a:b',
    'X-Autoreply: yes',
    'X-Autorespond: yes',
    'X-Mail-Autoreply: yes',
    'X-Autogenerated: Reply',
    'X-FC-MachineGenerated: true',
    'Return-Path: <>',
  ])('[S7.email-loop] [I19.loop-headers] %s', (line) => {
    expect(sign(line)).not.toBeNull()
  })

  it.each([
    'Automatic reply: away',
    'Automatische Antwort: weg',
    'Réponse automatique : absent',
    'Respuesta automática: fuera',
    'Out of Office: away',
    '自动回复：不在',
  ])('[I19.loop-headers] the subject %s', (subject) => {
    expect(sign('X: y', 'kate@home.test', subject)).not.toBeNull()
  })

  it('[I19.loop-headers] senders that read no answers are automatic; people are not', () => {
    for (const sender of [
      'no-reply@x.test',
      'noreply@x.test',
      'mailer-daemon@x.test',
      'postmaster@x.test',
      'bounces+1@x.test',
    ])
      expect(sign('X: y', sender)).not.toBeNull()
    for (const line of [
      'Auto-Submitted: no',
      'X-Auto-Response-Suppress: All',
      'Precedence: normal',
      'Return-Path: <kate@home.test>',
    ])
      expect(sign(line)).toBeNull()
    expect(sign('X: y', 'kate@home.test', 'Out of office supplies')).toBeNull()
  })
})
