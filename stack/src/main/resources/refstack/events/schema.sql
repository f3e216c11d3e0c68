drop table if exists event;

create table event (
  id         text primary key,
  agent      text    not null,
  sequence   bigint  not null,
  tag        text    not null,
  value      numeric not null,
  event_time timestamptz not null,
  stored_at  timestamptz not null default clock_timestamp()
);
