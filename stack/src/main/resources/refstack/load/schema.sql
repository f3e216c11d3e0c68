drop table if exists flight, connection, plane, airport, carrier cascade;

create table carrier (
  carrid text primary key,
  name   text not null
);

create table airport (
  code      text primary key,
  name      text not null,
  city      text not null,
  country   text not null,
  time_zone text not null
);

create table plane (
  plane_type         text primary key,
  name               text not null,
  seats_max          int  not null,
  business_seats_max int  not null,
  first_seats_max    int  not null
);

create table connection (
  carrid            text not null references carrier,
  connid            text not null,
  airport_from      text not null references airport,
  airport_to        text not null references airport,
  departure_time    time not null,
  arrival_time      time not null,
  arrival_days      int   not null,
  flight_time       int   not null,
  distance          int   not null,
  distance_unit     text not null,
  distance_unit_iso text not null,
  flight_type       text not null,
  primary key (carrid, connid)
);

create table flight (
  carrid                  text not null,
  connid                  text not null,
  fldate                  date not null,
  price                   numeric(15,2) not null,
  currency                text not null,
  currency_iso            text not null,
  plane_type              text not null references plane,
  seats_max               int  not null,
  seats_occupied          int  not null,
  business_seats_max      int  not null,
  business_seats_occupied int  not null,
  first_seats_max         int  not null,
  first_seats_occupied    int  not null,
  payment_sum             numeric(15,2) not null,
  changed_at              timestamptz not null,
  primary key (carrid, connid, fldate),
  foreign key (carrid, connid) references connection
);
