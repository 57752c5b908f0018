// Texts that one platform alone needs: names of its commands, buttons and threads.

export interface Asked {
  readonly name: string
  readonly text: string
}

export const platforms = {
  /** How urgent a message is, where the platform has no sign of its own. */
  urgent: '❗ urgent',
  noHurry: 'no hurry',
  /** A person whose name the platform does not tell. */
  unnamed: 'Somebody',
  /** The subject of a mail, or the name of a thread, for a message without text. */
  message: 'Message',
  chorus: { refused: 'It was refused.' },
  discord: {
    commands: {
      new: 'Start a new conversation with the agent',
      stop: 'Stop what the agent is doing',
      status: 'Who answers here, and what waits',
      help: 'The commands of the gateway itself',
      ask: 'Ask the agent',
      askText: 'What you want to ask',
    },
    ask: 'Ask',
    question: 'Question',
    asked: ({ name, text }: Asked) => `**${name}** asked: ${text}`,
    thread: 'Answer',
  },
  email: {
    urgent: '[Urgent] ',
    noHurry: '[FYI] ',
    seeAttachment: '(see the attachment)',
    orInConsole: ({ url }: { readonly url: string }) => `Or decide it in the console: ${url}`,
  },
  slack: {
    app: 'Talk to an agent through Switchboard.',
    command: 'Ask the agent',
    commandHint: 'what you want, or status, new, stop, help',
    shortcut: 'Ask the agent about this',
    shortcutDescription: 'Sends the message to the agent',
    working: 'is working on it…',
  },
  web: {
    tooMany: 'too many messages',
    internal: 'something went wrong here; the log has the details',
  },
  whatsapp: { choose: 'Choose' },
}
