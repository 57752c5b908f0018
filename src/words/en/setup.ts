// What the setup asks and says: how questions look, the wizard from the first question to the first answer, and notes on
// answers. A module words its own questions.

export interface Ask {
  readonly ask: string
}
export interface Integration {
  readonly integration: string
}
export interface Said {
  readonly text: string
}
export interface File {
  readonly file: string
}
export interface Reference {
  /** Where the configuration has it: `integrations.kate_tg.token`. */
  readonly key: string
  readonly reference: string
}

export const setup = {
  /** A question at the terminal, on one line. */
  question: {
    plain: ({ ask }: Ask) => `${ask}: `,
    withDefault: ({ ask, fallback }: Ask & { readonly fallback: string }) => `${ask} [${fallback}]: `,
    hidden: ({ ask }: Ask) => `${ask} (hidden): `,
    hiddenOrFresh: ({ ask }: Ask) => `${ask} (hidden; empty: a fresh one): `,
  },
  /** A question at a prompt of the wizard. */
  prompt: {
    secret: ({ ask }: Ask) => `${ask} (not shown)`,
    secretOrFresh: ({ ask }: Ask) => `${ask} (not shown; empty: a fresh one)`,
    several: ({ ask }: Ask) => `${ask} (space chooses, Enter goes on)`,
    warning: ({ text }: Said) => `warning: ${text}`,
  },
  answers: {
    needed: 'an answer is needed',
    visible: ({ flag }: { readonly flag: string }) =>
      `${flag} can be seen by others on this machine and stays in the shell's history`,
    made: ({ ask, secret }: Ask & { readonly secret: string }) =>
      `made one, shown this once (${ask}): ${secret}`,
    madeBefore: ({ ask }: Ask) => `the one that was made before is taken (${ask})`,
    completed: ({ key, meaning }: { readonly key: string; readonly meaning: string }) =>
      `${key}: true is written for it (${meaning})`,
  },
  trial: {
    theAgent: 'the agent',
    answers: ({ name, who }: { readonly name: string; readonly who: string }) =>
      `${name} answers: this is ${who}`,
    needsSecret: 'not tried: --write makes the secret, shows it and tries the agent',
    needsDaemon: ({ reference }: { readonly reference: string }) =>
      `not tried: ${reference} is read by the daemon alone`,
    made: ({ ask, secret }: Ask & { readonly secret: string }) =>
      `made, and shown this once (${ask}):\n  ${secret}`,
    giveSecret: 'give it to the agent, then press Enter',
    again: 'Enter tries it again with the same secret, Ctrl-C gives up',
  },
  plan: {
    wherePeopleTalk: 'Where do people talk to it?',
    whoAnswers: 'Who answers?',
    known: ({ agent }: { readonly agent: string }) => `${agent}, which is there already`,
    pasteBefore: ({ platform }: { readonly platform: string }) => `${platform}: what to do there`,
    refused: ({ why }: { readonly why: string }) => `no: ${why}; once more, or Ctrl-C`,
  },
  wizard: {
    begin: 'Switchboard',
    beginMore: ({ file }: File) => `Switchboard: more for ${file}`,
    wrote: ({ file }: File) => `wrote ${file}`,
    addedTo: ({ file }: File) => `added to ${file}`,
    startNow: 'Start it now, in the background?',
    goesOn: 'It goes on in the background: switchboard status, switchboard logs -f, switchboard stop',
    next: ({ command }: { readonly command: string }) => `Next: ${command}`,
    applied: 'the daemon that runs has applied it',
    oneWay: ({ integration, remedy }: Integration & { readonly remedy: string | null }) =>
      `${integration} is one-way: answers to its messages reach nobody${remedy === null ? '' : ` (${remedy})`}`,
    link: ({
      integration,
      link,
      detail,
      reach,
    }: Integration & {
      readonly link: string
      readonly detail: string | null
      readonly reach: string | null
    }) =>
      `${integration} is ${link}${detail === null ? '' : ` (${detail})`}${reach === null ? '' : `; write to it: ${reach}`}`,
    pasteAfter: ({ integration }: Integration) => `${integration}: to paste at the sender`,
    leftToDo: ({ agent }: { readonly agent: string }) => `${agent}: what is left to do`,
  },
  firstMessage: {
    waiting: 'Waiting for the first message. Ctrl-C ends the wait, not Switchboard.',
    waitEnded: 'The wait is ended; they are let in by: switchboard pair approve CODE',
    wrote: ({ name, text }: Said & { readonly name: string }) => `${name} wrote: ${text}`,
    answered: ({ address, text }: Said & { readonly address: string }) =>
      `the answer arrived (${address}): ${text}`,
    notAnswered: ({ state, reason }: { readonly state: string; readonly reason: string | null }) =>
      `it was not answered: ${state}${reason === null ? '' : ` (${reason})`}; see: switchboard doctor`,
    wasToldCode: ({ name, integration }: Integration & { readonly name: string }) =>
      `${name} wrote on ${integration}, and was told a code.`,
    askCode: 'The code that they were told (empty: leave them out)',
    wrongCode: 'that is not their code',
    leftOut: 'left out; later: switchboard pair approve CODE',
    paired: ({ name, granted }: { readonly name: string; readonly granted: string }) =>
      `${name} ${granted}. They are told, and may write again.`,
    isThisYou: 'Is this you?',
    iAm: ({ user }: { readonly user: string }) => `Yes, I am ${user}`,
    iAmHint: 'what that user may do',
    thisIsMe: 'Yes, this is me',
    approver: 'No, but they may also approve',
    approverHint: 'may talk and approve tool calls',
    talk: 'No, they may talk',
    talkHint: 'and approve nothing',
  },
  /** Warnings of `check` about secrets, and about references that lead nowhere. */
  secrets: {
    inGit: ({ file }: File) =>
      `${file} holds a secret, and git has it: git rm --cached it, make a new secret, and add it to .gitignore`,
    nearGit: ({ file }: File) => `${file} holds a secret, and git would take it: add it to .gitignore`,
    unsetVariable: ({ key, reference, name }: Reference & { readonly name: string }) =>
      `${key}: ${reference} is not set in this shell; set it before \`up\`, or keep it: switchboard secrets set ${name}, and write secret:${name}`,
    absentFile: ({ key, reference }: Reference) => `${key}: ${reference} is not there`,
    notKept: ({ key, reference, name }: Reference & { readonly name: string }) =>
      `${key}: ${reference} is not kept yet; while the daemon runs: switchboard secrets set ${name}`,
  },
}
