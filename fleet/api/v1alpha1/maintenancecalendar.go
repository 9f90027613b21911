// SPDX-FileCopyrightText: The Windlass Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MaintenanceCalendar says when machines may begin: the union of its windows without its exclusions. RolloutPolicies name
// it, and it may bind clusters by itself. One that cannot be read is closed.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cal,categories=windlass
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.status.zone`
// +kubebuilder:printcolumn:name="Open",type=string,JSONPath=`.status.open`
// +kubebuilder:printcolumn:name="Until",type=string,JSONPath=`.status.until`
// +kubebuilder:printcolumn:name="Next",type=string,JSONPath=`.status.zones[0].next[0].local`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MaintenanceCalendar struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// spec is what people ask for. The hub never writes it.
	// +required
	Spec MaintenanceCalendarSpec `json:"spec"`
	// status is when it is open.
	// +optional
	Status MaintenanceCalendarStatus `json:"status,omitempty,omitzero"`
}

// MaintenanceCalendarList is a list of MaintenanceCalendars.
//
// +kubebuilder:object:root=true
type MaintenanceCalendarList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata of the list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`
	// items of the list.
	Items []MaintenanceCalendar `json:"items"`
}

// TimeZoneFrom says whose time zone a calendar is in.
// +kubebuilder:validation:Enum=Cluster
type TimeZoneFrom string

// TimeZoneFromCluster takes the zone of each cluster, so that 02:00 is its local time everywhere.
const TimeZoneFromCluster TimeZoneFrom = "Cluster"

// MaintenanceCalendarSpec says when machines may begin.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.timeZone) || !has(self.timeZoneFrom)`,message="spec.timeZone: contradicts timeZoneFrom; accepted: one of them, or neither for UTC",fieldPath=".timeZone",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`has(self.windows) && size(self.windows) > 0`,message="spec.windows: must say when it is open, no window means neither never nor always; accepted: [{schedule: 0 2 * * 6, duration: 4h}]",fieldPath=".windows",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.clusterSelector) || (has(self.clusterSelector.matchLabels) && size(self.clusterSelector.matchLabels) > 0) || (has(self.clusterSelector.matchExpressions) && size(self.clusterSelector.matchExpressions) > 0)`,message="spec.clusterSelector: is empty, which would be every cluster or none; accepted: matchLabels: {tier: prod}, or leave it out",fieldPath=".clusterSelector"
type MaintenanceCalendarSpec struct {
	// timeZone is the region name of a time zone, such as Europe/Berlin. Default UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(UTC|Etc/UTC|(Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Brazil|Canada|Chile|Europe|Indian|Mexico|Pacific|US)(/[A-Z][A-Za-z_-]*){1,2})$')`,message="spec.timeZone: must be UTC or the name of a region in the IANA time zone database, since fixed offsets and abbreviations know no summer time; accepted: UTC, Europe/Berlin, America/New_York"
	TimeZone *string `json:"timeZone,omitempty"`
	// timeZoneFrom: Cluster takes the zone from the annotation fleet.windlass.dev/time-zone of each Cluster, else of its
	// ManagementCluster. It is read at planning; for a cluster without one the calendar is closed.
	// +optional
	TimeZoneFrom TimeZoneFrom `json:"timeZoneFrom,omitempty"`
	// windows in which it is open, but for the exclusions. Windows may overlap.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Windows []CalendarWindow `json:"windows,omitempty"`
	// exclusions in which it is closed, whatever the windows say.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Exclusions []CalendarExclusion `json:"exclusions,omitempty"`
	// clusterSelector binds the WorkloadClusters of this namespace that it matches, whatever their policies name. A cluster is
	// open when every calendar that applies to it is.
	// +optional
	ClusterSelector *metav1.LabelSelector `json:"clusterSelector,omitempty"`

	// Unknown are the paths of the fields that were read and that no field here has. Such a calendar is closed.
	Unknown []string `json:"-"`
}

// Schedule is a cron expression of five fields, in the time zone of its calendar.
//
// +kubebuilder:validation:MaxLength=100
// +kubebuilder:validation:XValidation:rule=`!self.startsWith('@')`,message="schedule: macros are not taken; accepted: 0 0 * * 0 for @weekly"
// +kubebuilder:validation:XValidation:rule=`!self.contains('TZ=')`,message="schedule: the time zone stands in spec.timeZone; accepted: 0 2 * * 6"
// +kubebuilder:validation:XValidation:rule=`self.startsWith('@') || self.contains('TZ=') || self.matches('^[^ ]+( +[^ ]+){4}$')`,message="schedule: must have five fields: minute, hour, day, month and weekday; accepted: 0 2 * * 6"
// +kubebuilder:validation:XValidation:rule=`self.contains('TZ=') || !self.matches('^[^ ]+( +[^ ]+){4}$') || self.matches('^(([0-5]?[0-9]-[0-5]?[0-9]|[*])(/0?[1-9]|/[1-5][0-9])?|[0-5]?[0-9])(,(([0-5]?[0-9]-[0-5]?[0-9]|[*])(/0?[1-9]|/[1-5][0-9])?|[0-5]?[0-9]))* +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+$')`,message="schedule: minute takes 0 to 59; accepted: 0, 0,30, */15"
// +kubebuilder:validation:XValidation:rule=`self.contains('TZ=') || !self.matches('^[^ ]+( +[^ ]+){4}$') || self.matches('^[^ ]+ +((([01]?[0-9]|2[0-3])-([01]?[0-9]|2[0-3])|[*])(/0?[1-9]|/[1-5][0-9])?|([01]?[0-9]|2[0-3]))(,((([01]?[0-9]|2[0-3])-([01]?[0-9]|2[0-3])|[*])(/0?[1-9]|/[1-5][0-9])?|([01]?[0-9]|2[0-3])))* +[^ ]+ +[^ ]+ +[^ ]+$')`,message="schedule: hour takes 0 to 23; accepted: 2, 22,23, 0-5"
// +kubebuilder:validation:XValidation:rule=`self.contains('TZ=') || !self.matches('^[^ ]+( +[^ ]+){4}$') || self.matches('^[^ ]+ +[^ ]+ +(((0?[1-9]|[12][0-9]|3[01])-(0?[1-9]|[12][0-9]|3[01])|[*])(/0?[1-9]|/[1-5][0-9])?|(0?[1-9]|[12][0-9]|3[01]))(,(((0?[1-9]|[12][0-9]|3[01])-(0?[1-9]|[12][0-9]|3[01])|[*])(/0?[1-9]|/[1-5][0-9])?|(0?[1-9]|[12][0-9]|3[01])))* +[^ ]+ +[^ ]+$')`,message="schedule: day of the month takes 1 to 31, and no L or W; accepted: *, 1, 1-7, or rrule: RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=2 for the last day"
// +kubebuilder:validation:XValidation:rule=`self.contains('TZ=') || !self.matches('^[^ ]+( +[^ ]+){4}$') || self.matches('^[^ ]+ +[^ ]+ +[^ ]+ +(((0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))-(0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))|[*])(/0?[1-9]|/[1-5][0-9])?|(0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))(,(((0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))-(0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))|[*])(/0?[1-9]|/[1-5][0-9])?|(0?[1-9]|1[0-2]|(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))))* +[^ ]+$')`,message="schedule: month takes 1 to 12 or jan to dec; accepted: *, 6, jan-mar"
// +kubebuilder:validation:XValidation:rule=`self.contains('TZ=') || !self.matches('^[^ ]+( +[^ ]+){4}$') || self.matches('^[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +(((0?[0-6]|(?i:sun|mon|tue|wed|thu|fri|sat))-(0?[0-6]|(?i:sun|mon|tue|wed|thu|fri|sat))|[*])(/0?[1-9]|/[1-5][0-9])?|(0?[0-7]|(?i:sun|mon|tue|wed|thu|fri|sat)))(,(((0?[0-6]|(?i:sun|mon|tue|wed|thu|fri|sat))-(0?[0-6]|(?i:sun|mon|tue|wed|thu|fri|sat))|[*])(/0?[1-9]|/[1-5][0-9])?|(0?[0-7]|(?i:sun|mon|tue|wed|thu|fri|sat))))*$')`,message="schedule: day of the week takes 0 to 6 or sun to sat, 7 for Sunday outside a range, and no # or L; accepted: 0, mon-fri, 1-6,0 for 1-7, or rrule: RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2 for the first Sunday"
// +kubebuilder:validation:XValidation:rule=`!self.matches('^[^ ]+ +[^ ]+ +([^* ]|[*][^ ])[^ ]* +[^ ]+ +([^* ]|[*][^ ])[^ ]*$')`,message="schedule: restricts both day fields, which cron reads as either of them; accepted: one of them and * in the other, or rrule: RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2 for the first Sunday"
// +kubebuilder:validation:XValidation:rule=`self.findAll('[0-9]{1,2}-[0-9]{1,2}').all(r, int(r.split('-')[0]) <= int(r.split('-')[1]))`,message="schedule: a range runs backwards; accepted: 22,23,0-5 for 22-5"
// +kubebuilder:validation:XValidation:rule=`self.lowerAscii().findAll('[a-z]{3}-[a-z]{3}').all(r, 'sun mon tue wed thu fri sat jan feb mar apr may jun jul aug sep oct nov dec'.indexOf(r.substring(0, 3)) <= 'sun mon tue wed thu fri sat jan feb mar apr may jun jul aug sep oct nov dec'.indexOf(r.substring(4)))`,message="schedule: a range of days or months runs backwards; accepted: sat,sun for sat-sun, nov,dec,jan for nov-jan"
type Schedule string

// RRule is a recurrence as RFC 5545 writes it, on one line or, with DTSTART, EXDATE or RDATE, on several.
//
// +kubebuilder:validation:MaxLength=2048
// +kubebuilder:validation:XValidation:rule=`self.matches('(?i)(^|[:;\\n])FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)(;|[[:space:]]|$)')`,message="rrule: must be a recurrence as RFC 5545 writes it, daily or rarer; accepted: RRULE:FREQ=MONTHLY;BYDAY=1SU;BYHOUR=2"
type RRule string

// CalendarWindow is open from each start of a recurrence for a duration.
//
// +kubebuilder:validation:XValidation:rule=`has(self.schedule) != has(self.rrule)`,message="windows[]: exactly one of schedule and rrule is needed; accepted: {schedule: 0 2 * * 6, duration: 4h}"
// +kubebuilder:validation:XValidation:rule=`has(self.duration)`,message="windows[].duration: must say how long it is open; accepted: 4h",fieldPath=".duration",reason=FieldValueRequired
type CalendarWindow struct {
	// schedule of the starts, in the calendar's time zone: minute, hour, day, month and weekday.
	// +optional
	Schedule *Schedule `json:"schedule,omitempty"`
	// rrule of the starts, in the calendar's time zone, for what a schedule cannot say.
	// +optional
	RRule *RRule `json:"rrule,omitempty"`
	// duration that it is open from each start: elapsed time, 15m to 744h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('15m') && duration(self) <= duration('744h')`,message="windows[].duration: must be a duration of 15m to 744h; accepted: 4h, 90m"
	Duration *metav1.Duration `json:"duration,omitempty"`
}

// CalendarMoment is an instant as RFC 3339 writes it, or a local date.
//
// +kubebuilder:validation:MaxLength=40
// +kubebuilder:validation:XValidation:rule=`self.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)(T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$')`,message="exclusions[]: from and to must each be a date or an instant as RFC 3339 writes it; accepted: 2026-12-24, 2026-12-24T18:00:00+01:00"
type CalendarMoment string

// CalendarExclusion is closed from each start of a recurrence for a duration, or once.
//
// +kubebuilder:validation:XValidation:rule=`[has(self.schedule), has(self.rrule), has(self.from) || has(self.to)].filter(given, given).size() == 1`,message="exclusions[]: exactly one of schedule, rrule, and from with to is needed; accepted: {from: 2026-12-24, to: 2026-12-26}"
// +kubebuilder:validation:XValidation:rule=`has(self.from) == has(self.to)`,message="exclusions[]: from and to belong together; accepted: {from: 2026-12-24, to: 2026-12-26}"
// +kubebuilder:validation:XValidation:rule=`has(self.duration) == (has(self.schedule) || has(self.rrule))`,message="exclusions[].duration: stands beside schedule and rrule, and only there; accepted: {schedule: 0 0 1 * *, duration: 24h}",fieldPath=".duration"
// +kubebuilder:validation:XValidation:rule=`!has(self.from) || !has(self.to) || !self.from.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)(T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$') || !self.to.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)(T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$') || (size(self.from) == 10) == (size(self.to) == 10)`,message="exclusions[]: from and to must be of one form; accepted: two dates, or two instants",fieldPath=".to"
// +kubebuilder:validation:XValidation:rule=`!has(self.from) || !has(self.to) || !self.from.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)$') || !self.to.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)$') || self.from <= self.to`,message="exclusions[].to: is before from; accepted: the same date as from, which is one whole day, or a later one",fieldPath=".to"
// +kubebuilder:validation:XValidation:rule=`!has(self.from) || !has(self.to) || !self.from.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$') || !self.to.matches('^((19|20|21)[0-9]{2}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|((19|20|21)(0[48]|[2468][048]|[13579][26])|2000)-02-29)T([01][0-9]|2[0-3])(:[0-5][0-9]){2}([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$') || timestamp(self.from) < timestamp(self.to)`,message="exclusions[].to: is not after from; accepted: a later instant",fieldPath=".to"
type CalendarExclusion struct {
	// schedule of the starts, in the calendar's time zone.
	// +optional
	Schedule *Schedule `json:"schedule,omitempty"`
	// rrule of the starts, in the calendar's time zone.
	// +optional
	RRule *RRule `json:"rrule,omitempty"`
	// duration that it is closed from each start: elapsed time, 15m to 744h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule=`self.matches('^([0-9]{1,5}([.][0-9]{1,9})?(h|m|s|ms))+$') && duration(self) >= duration('15m') && duration(self) <= duration('744h')`,message="exclusions[].duration: must be a duration of 15m to 744h; accepted: 24h"
	Duration *metav1.Duration `json:"duration,omitempty"`
	// from an instant on, or from the beginning of a day in the calendar's time zone.
	// +optional
	From *CalendarMoment `json:"from,omitempty"`
	// to an instant, or to the end of a day in the calendar's time zone, which is closed too.
	// +optional
	To *CalendarMoment `json:"to,omitempty"`
	// reason that people are shown, such as Christmas.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}

// CalendarOpen says whether a calendar is open.
// +kubebuilder:validation:Enum=Open;Closed;Partly
type CalendarOpen string

// The states of a calendar.
const (
	// CalendarIsOpen: in every time zone that it is used in.
	CalendarIsOpen CalendarOpen = "Open"
	// CalendarIsClosed: in every one of them, or it cannot be read.
	CalendarIsClosed CalendarOpen = "Closed"
	// CalendarIsPartlyOpen: in some of them.
	CalendarIsPartlyOpen CalendarOpen = "Partly"
)

// MaintenanceCalendarStatus is when a calendar is open.
type MaintenanceCalendarStatus struct {
	// conditions: Ready (it can be read; else it is closed).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// open: Open, Closed, or Partly where it is open in some time zones only.
	// +optional
	Open CalendarOpen `json:"open,omitempty"`
	// until is when that changes next: an instant in RFC 3339, or "act" where it stays so until a person acts.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Until string `json:"until,omitempty"`
	// zone is the time zone, or how many there are, such as "12 zones".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Zone string `json:"zone,omitempty"`
	// zones are the time zones that it is used in, at most 40, the one that opens next first.
	// +optional
	// +listType=map
	// +listMapKey=timeZone
	// +kubebuilder:validation:MaxItems=40
	Zones []CalendarZone `json:"zones,omitempty"`
	// zoneData says which release of the time zone database is used.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ZoneData string `json:"zoneData,omitempty"`
}

// CalendarZone is when a calendar is open in a time zone.
type CalendarZone struct {
	// timeZone is the region name, or UTC.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	TimeZone string `json:"timeZone"`
	// open: it is open now.
	// +optional
	Open bool `json:"open,omitempty"`
	// closesAt is when it closes; absent: it is not open, or never closes.
	// +optional
	ClosesAt *metav1.Time `json:"closesAt,omitempty"`
	// next openings, at most 5.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	Next []CalendarOpening `json:"next,omitempty"`
}

// CalendarOpening is a time that a calendar is open without a break.
type CalendarOpening struct {
	// opensAt is its first instant.
	// +required
	OpensAt metav1.Time `json:"opensAt"`
	// closesAt is the first instant after it; absent: it never closes.
	// +optional
	ClosesAt *metav1.Time `json:"closesAt,omitempty"`
	// local says it in local time, such as "Sat 2026-12-05 02:00 CET – 06:00 CET".
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Local string `json:"local,omitempty"`
}
