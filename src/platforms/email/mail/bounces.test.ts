// Later reports of servers about our mails, in their different forms.
import { describe, expect, it } from 'vitest'
import { mailOf } from '../fixtures/signed-mail.ts'
import { laterWord } from './bounces.ts'
import { readHeaders } from './headers.ts'
import { createMessageIds } from './message-ids.ts'
import { readMail } from './parse.ts'

const TEXT = 'Content-Type: text/plain; charset=utf-8'

describe('bounces', () => {
  const ids = createMessageIds('gw.test')
  const ID = ids.of('o_tag_1a')
  const word = async (
    lines: readonly string[],
    sender = 'mailer-daemon@mx.test',
    subject = 'Undelivered Mail Returned to Sender',
  ) => {
    const raw = mailOf(...lines)
    const result = await readMail(raw)
    if ('problem' in result) throw new Error(result.problem)
    return laterWord(result.mail, readHeaders(raw), {
      sender,
      subject,
      ours: ids.within(raw),
    })
  }
  const report = (status: readonly string[], id = ID, text = 'It could not be delivered.') => [
    'Return-Path: <>',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    TEXT,
    '',
    text,
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.test',
    '',
    'Final-Recipient: rfc822; x@gone.test',
    ...status,
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: ${id}`,
    'Subject: hello',
    '--b--',
  ]

  it('[I19.bounce-forms] a report of RFC 3464, with the server’s words', async () => {
    expect(
      await word(
        report(['Action: failed', 'Status: 5.1.1', 'Diagnostic-Code: smtp; 550 5.1.1 no', '  such user']),
      ),
    ).toEqual({
      send: 'o_tag_1a',
      outcome: 'failed',
      detail: '550 5.1.1 no such user',
      sentTo: ['x@gone.test'],
    })
    expect(await word(report(['Action: delayed', 'Status: 4.4.1']))).toMatchObject({ outcome: 'delayed' })
    expect(await word(report(['Action: delivered', 'Status: 2.0.0']))).toMatchObject({ outcome: 'delivered' })
  })

  it('[I19.bounce-forms] OpenSMTPD, whose words stand in the text', async () => {
    const lines = [
      'Return-Path: <>',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      TEXT,
      '',
      'Hi!',
      '',
      'Below is a copy.',
      '',
      'x@gone.test: 550 5.1.1 nobody here',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.test',
      '',
      'Final-Recipient: rfc822; x@gone.test',
      'Action: failed',
      'Status: 5.0.0',
      '--b',
      'Content-Type: text/rfc822-headers',
      '',
      `Message-ID: ${ID}`,
      '--b--',
    ]
    expect(await word(lines, 'mailer-daemon@host', 'Delivery status notification: error')).toEqual({
      send: 'o_tag_1a',
      outcome: 'failed',
      detail: '550 5.1.1 nobody here',
      sentTo: ['x@gone.test'],
    })
  })

  it('[I19.bounce-forms] qmail and Exchange, which write no report', async () => {
    const qmail = [
      'Return-Path: <>',
      TEXT,
      '',
      'Hi. This is the qmail-send program at mx.test.',
      '',
      '<x@gone.test>:',
      'Sorry, no mailbox here by that name. (#5.1.1)',
      '',
      '--- Below this line is a copy.',
      '',
      `Message-ID: ${ID}`,
    ]
    expect(await word(qmail, 'mailer-daemon@mx.test', 'failure notice')).toMatchObject({
      send: 'o_tag_1a',
      outcome: 'failed',
      detail: expect.stringContaining('no mailbox here'),
      sentTo: expect.arrayContaining(['x@gone.test']),
    })
    const exchange = [
      TEXT,
      `In-Reply-To: ${ID}`,
      '',
      "Your message to x@gone.test couldn't be delivered.",
      'Remote server returned 550 5.1.10 not found',
    ]
    expect(await word(exchange, 'postmaster@mx.test', 'Undeliverable: hello')).toMatchObject({
      outcome: 'failed',
      detail: expect.stringContaining('550 5.1.10'),
    })
  })

  it('[I19.bounce] one of no mail of ours, and a person who quotes our id, settle nothing', async () => {
    expect(await word(report(['Action: failed'], createMessageIds('other.test').of('o_tag_1a')))).toBeNull()
    expect(
      await word([TEXT, `In-Reply-To: ${ID}`, '', 'no, 550 times no'], 'kate@home.test', 'Re: hello'),
    ).toBeNull()
  })

  const exim = (of: {
    readonly text: string
    readonly more?: string
    readonly headers?: readonly string[]
  }) => [
    'Return-Path: <>',
    'X-Failed-Recipients: bob@other.test',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    TEXT,
    '',
    of.text,
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; corp.test',
    '',
    'Action: failed',
    'Final-Recipient: rfc822;bob@other.test',
    ...(of.more === undefined ? [] : [of.more]),
    'Status: 5.0.0',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    ...(of.headers ?? []),
    `Message-ID: ${ID}`,
    '--b--',
  ]
  it.each([
    [
      'the text',
      { text: '  bob@other.test\r\n    (generated from sales@corp.test)\r\n    550 no such user' },
    ],
    ['Original-Recipient', { text: 'No.', more: 'Original-Recipient: rfc822;sales@corp.test' }],
    ['To of the returned mail', { text: 'No.', headers: ['To: Sales <Sales@corp.test>'] }],
  ])('[I35.mail-forwarded] the address that we wrote to is found in %s', async (_where, of) => {
    expect(await word(exim(of))).toMatchObject({
      send: 'o_tag_1a',
      outcome: 'failed',
      sentTo: ['bob@other.test', 'sales@corp.test'],
    })
  })

  it('[I35.mail-bounce-id] of an answer within a thread is not taken for one of an older mail', async () => {
    const older = ids.of('o_tag_19')
    const headers = [`In-Reply-To: ${older}`, `References: ${older}`]
    expect(await word(exim({ text: 'No.', headers }))).toMatchObject({ send: 'o_tag_1a' })
    // Without a Message-ID field, other references to our mail count.
    expect(
      await word(
        [TEXT, `In-Reply-To: ${ID}`, '', 'x@gone.test: 550 no'],
        'mailer-daemon@mx.test',
        'failure notice',
      ),
    ).toMatchObject({ send: 'o_tag_1a' })
  })

  it('[I19.later-receipt] a note that it was read', async () => {
    const lines = [
      'Content-Type: multipart/report; report-type=disposition-notification; boundary=b',
      '',
      '--b',
      TEXT,
      '',
      'read',
      '--b',
      'Content-Type: message/disposition-notification',
      '',
      `Original-Message-ID: ${ID}`,
      'Disposition: manual-action/MDN-sent-manually; displayed',
      '--b--',
    ]
    expect(await word(lines, 'kate@home.test', 'Read: hello')).toMatchObject({
      send: 'o_tag_1a',
      outcome: 'read',
    })
  })
})
