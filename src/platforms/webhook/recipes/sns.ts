// Amazon SNS: one topic is one conversation, and each CloudWatch alarm in it one of its own.
import type { Recipe } from './recipe.ts'

export const sns: Recipe = {
  auth: null,
  event: '{{ Type }}',
  inside: 'Message',
  conversation: '{{ TopicArn }}{% if inside.AlarmName %}/{{ inside.AlarmName }}{% endif %}',
  messageId: '{{ MessageId }}',
  texts: {
    SubscriptionConfirmation: '',
    UnsubscribeConfirmation: 'The subscription to {{ TopicArn }} has ended.',
    Notification: `{% if inside.AlarmName %}{{ inside.AlarmName }} is {{ inside.NewStateValue }} (was {{ inside.OldStateValue }}) in {{ inside.Region }}
{{ inside.NewStateReason }}
{{ inside.AlarmDescription }}{% else %}{{ Subject }}
{{ Message }}{% endif %}`,
  },
}
