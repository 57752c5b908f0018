// The answer without its quotes: common clients, in several languages, and texts that only look like a quote.
import { describe, expect, it } from 'vitest'
import { stripQuotes } from './strip-quotes.ts'

const QUOTED = '> Run it?\n> yes abcde'
const CLIENTS: readonly (readonly [string, string])[] = [
  ['Gmail', `On Mon, Nov 16, 2026 at 11:00 AM Bot <bot@gw.test> wrote:\n\n${QUOTED}`],
  [
    'Gmail, wrapped',
    `On Mon, Nov 16, 2026 at 11:00 AM A Very Long Name Indeed <\nbot@gw.test> wrote:\n${QUOTED}`,
  ],
  ['Gmail in German', `Am Mo., 16. Nov. 2026 um 11:00 Uhr schrieb Bot <bot@gw.test>:\n\n${QUOTED}`],
  ['Gmail in French', `Le lun. 16 nov. 2026 à 11:00, Bot <bot@gw.test> a écrit :\n\n${QUOTED}`],
  ['Gmail in Spanish', `El lun, 16 nov 2026 a las 11:00, Bot (<bot@gw.test>) escribió:\n\n${QUOTED}`],
  ['Gmail in Portuguese', `Em seg., 16 de nov. de 2026 às 11:00, Bot <bot@gw.test> escreveu:\n\n${QUOTED}`],
  ['Gmail in Italian', `Il giorno lun 16 nov 2026 alle ore 11:00 Bot <bot@gw.test> ha scritto:\n\n${QUOTED}`],
  ['Gmail in Dutch', `Op ma 16 nov 2026 om 11:00 schreef Bot <bot@gw.test>:\n\n${QUOTED}`],
  ['Gmail in Russian', `пн, 16 нояб. 2026 г. в 11:00, Bot <bot@gw.test>:\n\n${QUOTED}`],
  ['Gmail in Japanese', `2026年11月16日(月) 11:00 Bot <bot@gw.test>:\n\n${QUOTED}`],
  ['Gmail in Chinese', `Bot <bot@gw.test> 于2026年11月16日周一 11:00写道：\n\n${QUOTED}`],
  ['Apple Mail', `On 16 Nov 2026, at 11:00, Bot <bot@gw.test> wrote:\n\n${QUOTED}`],
  ['Thunderbird', `On 11/16/26 11:00, Bot wrote:\n${QUOTED}`],
  [
    'Outlook',
    'From: Bot <bot@gw.test>\nSent: Monday, November 16, 2026 11:00 AM\nTo: Kate <kate@home.test>\nSubject: Run it?\n\nRun it? yes abcde',
  ],
  [
    'Outlook in German',
    'Von: Bot <bot@gw.test>\nGesendet: Montag, 16. November 2026 11:00\nAn: Kate <kate@home.test>\nBetreff: Run it?\n\nRun it?',
  ],
  [
    'Outlook in French',
    'De : Bot <bot@gw.test>\nEnvoyé : lundi 16 novembre 2026 11:00\nÀ : Kate <kate@home.test>\nObjet : Run it?\n\nRun it?',
  ],
  [
    'Outlook in Japanese',
    '差出人: Bot <bot@gw.test>\n送信日時: 2026年11月16日 11:00\n宛先: Kate <kate@home.test>\n件名: Run it?\n\nRun it?',
  ],
  [
    'Outlook with stars',
    '*From:* Bot <bot@gw.test>\n*Sent:* Monday\n*To:* Kate\n*Subject:* Run it?\n\nRun it?',
  ],
  [
    'Outlook, underscored',
    `${'_'.repeat(32)}\nFrom: Bot <bot@gw.test>\nSent: Monday\nTo: Kate\nSubject: Run it?\n\nRun it?`,
  ],
  ['an old Outlook', '-----Original Message-----\nFrom: Bot\n\nRun it?'],
  ['an old Outlook in German', '-----Ursprüngliche Nachricht-----\nVon: Bot\n\nRun it?'],
  ['marks alone', QUOTED],
  ['an iPhone', `Sent from my iPhone\n\n> On 16 Nov 2026, at 11:00, Bot <bot@gw.test> wrote:\n> \n${QUOTED}`],
  [
    'an iPhone in German',
    `Von meinem iPhone gesendet\n\n> Am 16.11.2026 um 11:00 schrieb Bot <bot@gw.test>:\n${QUOTED}`,
  ],
  [
    'Outlook on a phone',
    'Get Outlook for iOS\n________________________________\nFrom: Bot <bot@gw.test>\nSent: Monday\nTo: Kate\nSubject: Run it?\n\nRun it?',
  ],
  ['a signature', '-- \nKate\n+47 123 45 678'],
  ['a greeting', 'Best regards,\nKate Miller\nHead of Operations'],
  ['a greeting in German', 'Mit freundlichen Grüßen\nKate'],
  [
    'a greeting above a quote',
    `Thanks,\nKate\n\nOn Mon, Nov 16, 2026 at 11:00 AM Bot <bot@gw.test> wrote:\n${QUOTED}`,
  ],
]

describe('quotes and signatures', () => {
  it.each(CLIENTS)('[S7.email-strip] [I19.strip-quotes] %s', (_name, tail) => {
    expect(stripQuotes(`yes abcde\n\n${tail}`)).toEqual({ text: 'yes abcde', cut: true })
    expect(stripQuotes(`yes abcde\r\n\r\n${tail.replaceAll('\n', '\r\n')}`).text).toBe('yes abcde')
  })

  const KEPT: readonly (readonly [string, string])[] = [
    ['a rule of dashes', 'first\n\n---\n\nsecond'],
    [
      'text after a greeting',
      'Best regards,\n\nOne more thing that matters: please restart the server, and tell me when it is up again.',
    ],
    ['an answer between quotes', '> Run it?\nno, wait\n> And this?\nyes'],
    ['a sentence with wrote:', 'On Monday Anna wrote:\n> stop\nwhat do you say to that?'],
    ['one header alone', 'From: here to there it is two hours.\nIs that right?'],
    [
      'a forward',
      'please look at this\n\n---------- Forwarded message ---------\nFrom: Anna <anna@home.test>\nSent: Monday\nTo: Kate\nSubject: Offer\n\nThe offer.',
    ],
    ['thanks in the midst', 'Thanks\n\nCan you do it again?'],
    ['a list with dashes', '- one\n- two\n-- three'],
    ['only a quote', '> Run it?'],
    ['an empty text', ''],
  ]
  it.each(KEPT)('[I19.strip-damage] %s stays', (_name, text) => {
    expect(stripQuotes(text)).toEqual({ text, cut: false })
  })
})
